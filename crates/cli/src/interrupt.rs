//! Ctrl-C: the first asks the work to stop and write what it has; the second ends it at once.

use ioco_campaign::Interrupt;

pub fn listen() -> Interrupt {
    let interrupt = Interrupt::default();
    let flag = interrupt.clone();
    // Where no handler can be set, Ctrl-C ends the program as it always does.
    let _ = ctrlc::set_handler(move || {
        if flag.raise() {
            std::process::exit(130);
        }
    });
    interrupt
}
