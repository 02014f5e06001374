#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let target = ioco_fuzz_targets::target("toml").expect("a target");
    (target.run)(data);
});
