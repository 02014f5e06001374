//! Between clients and a NATS server: a connection that delays or cuts, and a client that publishes everything twice.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Forwards connections to a server. While it is cut, nothing passes and no side is told.
pub struct Proxy {
    pub port: u16,
    way: Arc<Way>,
}

#[derive(Default)]
struct Way {
    /// Milliseconds that every byte takes, in each direction.
    delay: AtomicU64,
    is_cut: AtomicBool,
    is_over: AtomicBool,
}

impl Proxy {
    pub fn start(server: u16) -> Result<Proxy, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?;
        let way = Arc::new(Way::default());
        let own = Arc::clone(&way);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if own.is_over.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    forward(&client, &server, &own);
                    forward(&server, &client, &own);
                }
            }
        });
        Ok(Proxy {
            port: port.port(),
            way,
        })
    }

    pub fn delay(&self, milliseconds: u64) {
        self.way.delay.store(milliseconds, Ordering::Relaxed);
    }

    pub fn cut(&self, is_cut: bool) {
        self.way.is_cut.store(is_cut, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.way.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// One direction: a thread that reads, and one that writes when it is time.
fn forward(from: &TcpStream, to: &TcpStream, way: &Arc<Way>) {
    let (Ok(mut from), Ok(to)) = (from.try_clone(), to.try_clone()) else {
        return;
    };
    let (sender, receiver) = channel();
    let own = Arc::clone(way);
    std::thread::spawn(move || deliver(&receiver, to, &own));
    let own = Arc::clone(way);
    std::thread::spawn(move || read(&mut from, &sender, &own));
}

fn read(from: &mut TcpStream, sender: &Sender<(Instant, Vec<u8>)>, way: &Way) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let delay = Duration::from_millis(way.delay.load(Ordering::Relaxed));
        if sender
            .send((Instant::now() + delay, buffer[..read].to_vec()))
            .is_err()
        {
            return;
        }
    }
}

fn deliver(receiver: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream, way: &Way) {
    while let Ok((at, bytes)) = receiver.recv() {
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        while way.is_cut.load(Ordering::Relaxed) && !way.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// Publishes every order and every outcome of a server two more times, as it passes.
pub struct Echo {
    is_over: Arc<AtomicBool>,
    pub published: Arc<AtomicU64>,
}

impl Echo {
    pub fn start(server: u16) -> Result<Echo, String> {
        let stream =
            TcpStream::connect(("127.0.0.1", server)).map_err(|error| error.to_string())?;
        let echo = Echo {
            is_over: Arc::default(),
            published: Arc::default(),
        };
        let (is_over, published) = (Arc::clone(&echo.is_over), Arc::clone(&echo.published));
        std::thread::spawn(move || {
            // The end of the server ends this as well.
            let _ = repeat(stream, &is_over, &published);
        });
        Ok(echo)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn repeat(
    stream: TcpStream,
    is_over: &AtomicBool,
    published: &AtomicU64,
) -> Result<(), std::io::Error> {
    let mut out = stream.try_clone()?;
    out.write_all(
        b"CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB ioco.orders.* 1\r\nSUB ioco.outcomes.* 2\r\n",
    )?;
    let mut seen = HashSet::new();
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while !is_over.load(Ordering::Relaxed) {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            break;
        }
        let mut words = line.split_whitespace();
        match words.next() {
            Some("PING") => out.write_all(b"PONG\r\n")?,
            Some("MSG") => {
                let subject = words.next().unwrap_or_default().to_owned();
                let size = words.last().and_then(|word| word.parse().ok()).unwrap_or(0);
                let mut payload = vec![0; size + 2];
                lines.read_exact(&mut payload)?;
                let mut hasher = DefaultHasher::new();
                payload.hash(&mut hasher);
                // Our own messages come back too.
                if seen.insert(hasher.finish()) {
                    for _ in 0..2 {
                        out.write_all(format!("PUB {subject} {size}\r\n").as_bytes())?;
                        out.write_all(&payload)?;
                        published.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}
