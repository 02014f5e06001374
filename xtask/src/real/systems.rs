//! The systems of `examples/real`: where each comes from, in which version, and what it is expected to show.

/// Where a program comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A Debian package and its program.
    Debian(&'static str, &'static str),
    /// A package of npm with its version; its program, unless a script of the example requires it.
    Npm(&'static str, &'static str),
    /// Requirements of pip, the first of them the package, and the newest Python that it runs on.
    Python(&'static [&'static str], Option<u32>),
    /// A package in `xtask/src/real` that pins a crate and all its dependencies.
    Package(&'static str),
    /// A module of this Python's own library: its minor version.
    PythonItself(u32),
    /// A PostgreSQL server, which this command starts.
    Postgres,
}

/// A known deviation: the clauses that it touches, all of them, and what the system does instead.
#[derive(Clone, Copy, Debug)]
pub struct Accepted {
    pub clauses: &'static [&'static str],
    pub why: &'static str,
}

/// What a system is known to break. A campaign shows it by chance, or not: the query is for when it does not.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub clause: &'static str,
    pub sign: Sign,
    /// A scenario, in the folder of the example, that leads to it.
    pub query: Option<&'static str>,
}

/// By what a deviation is recognised as a known one.
#[derive(Clone, Copy, Debug)]
pub enum Sign {
    /// It touches the clause.
    Clause,
    /// A client gets a response with this name although it has never given this stimulus. Chance decides when it comes, and
    /// so which clauses the deviation touches.
    Unasked {
        response: &'static str,
        stimulus: &'static str,
    },
}

const fn known(clause: &'static str, query: &'static str) -> Known {
    Known {
        clause,
        sign: Sign::Clause,
        query: Some(query),
    }
}

/// One system under test.
#[derive(Clone, Copy, Debug)]
pub struct System {
    pub name: &'static str,
    /// In `examples/real`.
    pub folder: &'static str,
    /// Of its `ioco.toml`.
    pub profile: Option<&'static str>,
    /// Instead of `model.aml`.
    pub model: Option<&'static str>,
    pub source: Source,
    /// Files that somebody had to program: an adapter, not a configuration.
    pub adapter: &'static [&'static str],
    /// No deviation but the accepted ones is known, so any other is an alarm to look at.
    pub conforms: bool,
    /// Deviations that are known.
    pub accepted: &'static [Accepted],
    /// What the system is known to break, and this command must find.
    pub known: &'static [Known],
    /// Instead of the one that ioco takes: where a choice takes longer than an answer.
    pub strategy: Option<&'static str>,
    /// The most steps of one test.
    pub length: u64,
    /// The fewest steps that a test has on average: the model ends some earlier.
    pub average: u64,
    /// The most systems side by side: what takes seconds to start leaves the machine idle otherwise.
    pub jobs: u64,
}

const fn system(name: &'static str, folder: &'static str, source: Source) -> System {
    System {
        name,
        folder,
        profile: None,
        model: None,
        source,
        adapter: &[],
        conforms: true,
        accepted: &[],
        known: &[],
        strategy: None,
        length: 100,
        average: 100,
        jobs: 8,
    }
}

/// The steps of a test of a broker: deviations and closed connections end some early.
const MQTT: u64 = 70;

pub const SYSTEMS: &[System] = &[
    System {
        accepted: &[Accepted {
            clauses: &["MQTT-3.1.0-2", "MQTT-3.1.2-8"],
            why: "it forgets the will of a client that sends a second CONNECT",
        }],
        average: MQTT,
        ..system(
            "mosquitto",
            "mqtt",
            Source::Debian("mosquitto", "mosquitto"),
        )
    },
    System {
        profile: Some("aedes"),
        accepted: &[
            Accepted {
                clauses: &["MQTT-3.3.1-1"],
                why: "it sends an unacknowledged message again with DUP 0, one that a SUBSCRIBE caused not at all, or what it \
                      kept for a client with RETAIN 1",
            },
            Accepted {
                clauses: &["MQTT-3.2.2-2"],
                why: "it forgets a stored session that has no subscriptions",
            },
        ],
        average: MQTT,
        ..system("aedes", "mqtt", Source::Npm("aedes", "0.51.3"))
    },
    System {
        profile: Some("amqtt"),
        conforms: false,
        // Retained messages of topics that others subscribed to, at once after the CONNACK.
        known: &[Known {
            clause: "MQTT-3.3.1-8",
            sign: Sign::Unasked {
                response: "_retained",
                stimulus: "_subscribe",
            },
            query: Some("retained.query"),
        }],
        jobs: 4,
        ..system("amqtt", "mqtt", Source::Python(&["amqtt==0.12.1"], None))
    },
    System {
        profile: Some("hbmqtt"),
        conforms: false,
        known: &[
            known("MQTT-3.1.0-2", "second.query"),
            known("MQTT-3.1.4-2", "take-over.query"),
        ],
        jobs: 4,
        // Python 3.9 removed a way to take locks that it uses, websockets 9 a module.
        ..system(
            "hbmqtt",
            "mqtt",
            Source::Python(&["hbmqtt==0.9.6", "websockets==8.1"], Some(8)),
        )
    },
    System {
        profile: Some("rumqttd"),
        conforms: false,
        known: &[
            known("MQTT-3.10.4-5", "unsubscribe.query"),
            known("MQTT-3.8.4-3", "resubscribe.query"),
        ],
        ..system("rumqttd", "mqtt", Source::Package("rumqttd"))
    },
    System {
        conforms: false,
        known: &[Known {
            clause: "create",
            sign: Sign::Clause,
            query: None,
        }],
        ..system(
            "json-server-beta.1",
            "json-server",
            Source::Npm("json-server", "1.0.0-beta.1"),
        )
    },
    System {
        // It takes a second to start, and a step milliseconds.
        strategy: Some("random"),
        length: 500,
        average: 400,
        ..system(
            "json-server-beta.15",
            "json-server",
            Source::Npm("json-server", "1.0.0-beta.15"),
        )
    },
    System {
        length: 40,
        average: 8,
        ..system(
            "aiosmtpd",
            "smtp",
            Source::Python(&["aiosmtpd==1.4.6"], None),
        )
    },
    System {
        profile: Some("cpython"),
        conforms: false,
        known: &[Known {
            clause: "RFC5321-4.1.4",
            sign: Sign::Clause,
            query: None,
        }],
        length: 40,
        average: 8,
        // One after the other, as Hypothesis does it.
        jobs: 1,
        ..system("smtpd", "smtp", Source::PythonItself(11))
    },
    System {
        adapter: &["sessions.py"],
        strategy: Some("random"),
        ..system("postgres", "postgres", Source::Postgres)
    },
    System {
        // One server for the whole run; its commands are answered at once.
        jobs: 1,
        average: 40,
        ..system(
            "memcached",
            "memcached",
            Source::Debian("memcached", "memcached"),
        )
    },
    System {
        model: Some("first.aml"),
        conforms: false,
        jobs: 1,
        ..system(
            "memcached-first-model",
            "memcached",
            Source::Debian("memcached", "memcached"),
        )
    },
];

/// The same task for Hypothesis: the system whose deviation it is to find, and the script in its folder.
pub const HYPOTHESIS: &[(&str, &str)] = &[
    ("smtpd", "stateful.py"),
    ("memcached-first-model", "stateful.py"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::root;

    #[test]
    fn every_system_has_its_model_configuration_profile_and_adapter() {
        for system in SYSTEMS {
            let folder = root().join("examples/real").join(system.folder);
            let text = std::fs::read_to_string(folder.join("ioco.toml")).expect(system.name);
            if let Some(profile) = system.profile {
                assert!(text.contains(&format!("[profile.{profile}.")), "{profile}");
            }
            let model = system.model.unwrap_or("model.aml");
            let queries = system.known.iter().filter_map(|known| known.query.as_ref());
            for file in system.adapter.iter().chain([&model]).chain(queries) {
                assert!(folder.join(file).is_file(), "{}: {file}", system.name);
            }
        }
        for (name, script) in HYPOTHESIS {
            let system = SYSTEMS.iter().find(|system| system.name == *name);
            let folder = system.expect(name).folder;
            assert!(
                root()
                    .join("examples/real")
                    .join(folder)
                    .join(script)
                    .is_file()
            );
        }
    }
}
