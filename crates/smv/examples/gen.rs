use ioco_smv::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let tpg: f64 = a[1].parse().unwrap();
    let tech = match a[2].as_str() {
        "mono" => Technique::Monolithic,
        "strong" => Technique::Strong,
        "weak" => Technique::Weak,
        _ => Technique::Auto,
    };
    let crit = match a[3].as_str() {
        "v" => vec![Criterion::Value],
        "d" => vec![Criterion::Decision],
        "m" => vec![Criterion::Mcdc],
        "c" => vec![Criterion::Condition],
        _ => vec![Criterion::Value, Criterion::Decision],
    };
    let jobs: usize = std::env::var("JOBS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(2);
    for f in &a[4..] {
        let text = String::from_utf8_lossy(&std::fs::read(f).unwrap()).into_owned();
        let t0 = std::time::Instant::now();
        let (m, _) = load(&text, f);
        let Some(mut m) = m else {
            println!("{f} FAIL");
            continue;
        };
        let goals = m.goals(
            &crit,
            &GoalOptions {
                max_values: Some(10),
                ..Default::default()
            },
        );
        let clock = || t0.elapsed().as_secs_f64();
        let r = generate(
            &m,
            &goals,
            &Options {
                technique: tech,
                time_per_goal: tpg,
                jobs,
                ..Default::default()
            },
            Edge {
                clock: &clock,
                stop: &|| false,
            },
            &mut |e| {
                if std::env::var("V").is_ok() {
                    if let Event::Result(r) = e {
                        eprintln!(
                            "{:8.2} {:?} {} {:?} {}",
                            clock(),
                            r.verdict,
                            r.method,
                            r.length,
                            r.goal.chars().take(100).collect::<String>()
                        );
                    }
                }
            },
        );
        if std::env::var("DUMP").is_ok() {
            for x in &r {
                println!("GOAL\t{}\t{:?}\t{}\t{}", f, x.verdict, x.method, x.goal);
            }
        }
        let n = |v| r.iter().filter(|x| x.verdict == v).count();
        let mut me = std::collections::BTreeMap::new();
        for x in &r {
            *me.entry(if x.verdict == Verdict::Unknown {
                "?".to_owned()
            } else {
                x.method.clone()
            })
            .or_insert(0) += 1;
        }
        println!(
            "{f} goals {} cov {} inf {} unk {} {:.2}s {:?}",
            goals.len(),
            n(Verdict::Covered),
            n(Verdict::Infeasible),
            n(Verdict::Unknown),
            t0.elapsed().as_secs_f64(),
            me
        );
    }
}
