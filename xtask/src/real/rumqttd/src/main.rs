//! rumqttd with a configuration file: `rumqttd FILE`.
fn main() {
    let file = std::env::args().nth(1).expect("a configuration file");
    let read = config::Config::builder().add_source(config::File::with_name(&file)).build();
    let config: rumqttd::Config = read.and_then(|read| read.try_deserialize()).expect("a configuration");
    rumqttd::Broker::new(config).start().expect("a broker");
}
