//! A system on standard input and output, honest but for one fault: `ioco-bad-peer KIND AT SEED [FILE [MARK]]`. Its
//! process id goes to the file; the mark is written when the fault strikes. `ioco-bad-peer quick` has no fault and answers as fast as it can.

use std::io::{self, Write};

use ioco_faults::fault::{Fault, Injector, Kind};
use ioco_faults::peers;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse().ok());
    let kind = arguments.first().and_then(|name| Kind::named(name));
    let fault = Fault {
        kind: kind.unwrap_or(Kind::Nothing),
        at: number(1).unwrap_or(0) as usize,
        seed: number(2).unwrap_or(0),
    };
    if let Some(file) = arguments.get(3).filter(|file| !file.is_empty()) {
        std::fs::write(file, std::process::id().to_string())?;
    }
    let mut out = io::stdout().lock();
    if arguments.first().is_some_and(|word| word == "quick") {
        return peers::quick_line(io::stdin(), &mut out);
    }
    let injector = Injector::marking(fault, arguments.get(4).map(Into::into));
    match peers::line(io::stdin(), &mut out, &injector) {
        // That is the fault: a system that ends.
        Err(_) => std::process::exit(7),
        Ok(()) => out.flush(),
    }
}
