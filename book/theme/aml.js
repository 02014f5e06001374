// AML looks like Ruby, which the highlighter knows.
for (const code of document.querySelectorAll("code.language-aml")) {
    code.classList.replace("language-aml", "language-ruby");
    delete code.dataset.highlighted;
    hljs.highlightElement ? hljs.highlightElement(code) : hljs.highlightBlock(code);
}
