#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let target = ioco_fuzz_targets::target("mermaid").expect("a target");
    (target.run)(data);
});
