fn main() {
    for f in std::env::args().skip(1) {
        let text = match std::fs::read(&f) {
            Ok(t) => String::from_utf8_lossy(&t).into_owned(),
            Err(e) => {
                println!("{f}: {e}");
                continue;
            }
        };
        let t = std::time::Instant::now();
        let (m, d) = ioco_smv::load(&text, &f);
        match m {
            Some(m) => {
                let s = m.summary();
                println!(
                    "OK {f} bits {} vars {} exprs {} warn {} {:.2}s",
                    s.bits,
                    s.variables,
                    m.exprs.len(),
                    d.len(),
                    t.elapsed().as_secs_f64()
                );
            }
            None => {
                println!("FAIL {f}");
                for x in d
                    .iter()
                    .filter(|d| d.severity == ioco_smv::Severity::Error)
                    .take(3)
                {
                    println!("   {x}");
                }
            }
        }
    }
}
