//! `cargo xtask bench`: the speed table.

pub fn run(_only: &[String]) -> Result<(), String> {
    Err("no benchmark is registered".to_owned())
}
