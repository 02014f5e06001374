//! Whether everything adds up, asked of the database itself: what ioco says of its own campaigns is not believed here.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A database of a PostgreSQL server.
pub struct Database {
    psql: PathBuf,
    url: String,
}

/// What a campaign left in the store.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub orders: u64,
    pub outcomes: u64,
    pub withdrawn: u64,
    /// Outcomes that came twice or late, and count for nothing.
    pub discarded: u64,
    /// Orders without an outcome.
    pub losses: u64,
    /// Orders with more than one outcome, and tests with more than one order.
    pub doubles: u64,
    pub tests: u64,
    pub failed: u64,
    pub switches: u64,
    pub coordinators: u64,
}

impl Database {
    pub fn new(psql: &Path, server: &str, name: &str) -> Result<Database, String> {
        let base = server.rsplit_once('/').map_or(server, |(base, _)| base);
        let admin = Database {
            psql: psql.to_owned(),
            url: server.to_owned(),
        };
        admin.ask(&format!("CREATE DATABASE {name}"))?;
        Ok(Database {
            psql: psql.to_owned(),
            url: format!("{base}/{name}"),
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn ask(&self, question: &str) -> Result<String, String> {
        let output = Command::new(&self.psql)
            .arg(&self.url)
            .args(["--no-psqlrc", "--tuples-only", "--no-align", "--quiet"])
            .args(["--command", question])
            .output()
            .map_err(|error| format!("psql: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    pub fn number(&self, question: &str) -> Result<u64, String> {
        let answer = self.ask(question)?;
        answer
            .parse()
            .map_err(|_| format!("{question}: '{answer}' is no number"))
    }

    /// The last run of the store.
    pub fn last_run(&self) -> Result<u64, String> {
        self.number("SELECT MAX(id) FROM runs")
    }

    /// How many outcomes a campaign has, if there is one.
    pub fn outcomes(&self, campaign: &str) -> u64 {
        let asked = self.number(&format!(
            "SELECT COUNT(*) FROM outcomes WHERE campaign = '{campaign}'"
        ));
        asked.unwrap_or(0)
    }

    pub fn is_finished(&self, campaign: &str) -> bool {
        let asked = self.number(&format!(
            "SELECT COUNT(*) FROM runs r JOIN campaigns c ON c.run = r.id
             WHERE c.id = '{campaign}' AND r.summary IS NOT NULL"
        ));
        asked == Ok(1)
    }

    /// The switches that a run covered, and its failures.
    pub fn covered(&self, run: u64) -> Result<(u64, u64), String> {
        let switches = self.number(&format!(
            "SELECT json_array_length(switches::json) FROM coverage WHERE run = {run}"
        ))?;
        let failures = self.number(&format!("SELECT COUNT(*) FROM found WHERE run = {run}"))?;
        Ok((switches, failures))
    }

    fn sums(&self, campaign: &str) -> Result<(u64, Sums), String> {
        let of = |what: &str| self.number(&format!("SELECT {what}").replace("$1", campaign));
        let run = of("run FROM campaigns WHERE id = '$1'")?;
        let sums = Sums {
            orders: of("COUNT(*) FROM orders WHERE campaign = '$1'")?,
            outcomes: of("COUNT(*) FROM outcomes WHERE campaign = '$1' AND body IS NOT NULL")?,
            withdrawn: of("COUNT(*) FROM outcomes WHERE campaign = '$1' AND body IS NULL")?,
            discarded: of("discarded FROM campaigns WHERE id = '$1'")?,
            losses: of(
                "COUNT(*) FROM orders o WHERE campaign = '$1' AND NOT EXISTS
                 (SELECT 1 FROM outcomes u WHERE u.campaign = o.campaign AND u.number = o.number)",
            )?,
            doubles: of(
                "COUNT(*) FROM (SELECT number FROM outcomes WHERE campaign = '$1'
                   GROUP BY number HAVING COUNT(*) > 1) twice",
            )? + of("COUNT(*) FROM (SELECT purpose::json->>'test' FROM orders
                   WHERE campaign = '$1' AND purpose::json->>'test' <> '0'
                   GROUP BY 1 HAVING COUNT(*) > 1) twice")?,
            tests: self.number(&format!("SELECT COUNT(*) FROM tests WHERE run = {run}"))?,
            failed: self.number(&format!(
                "SELECT COUNT(*) FROM tests WHERE run = {run} AND verdict = 'fail'"
            ))?,
            switches: self.number(&format!(
                "SELECT json_array_length(switches::json) FROM coverage WHERE run = {run}"
            ))?,
            coordinators: of("coordinator FROM campaigns WHERE id = '$1'")?,
        };
        Ok((run, sums))
    }

    /// Holds a campaign that is over against the same tests on one machine: every order has one outcome, every test
    /// is that of the other run with the same verdict and as many steps, every switch was taken as often, and the
    /// failures are as many.
    pub fn check(&self, campaign: &str, reference: u64) -> Result<Sums, String> {
        let (run, sums) = self.sums(campaign)?;
        let mut wrong = Vec::new();
        let mut expect = |what: &str, found: u64, expected: u64| {
            if found != expected {
                wrong.push(format!("{what}: {found} instead of {expected}"));
            }
        };
        expect("orders without an outcome", sums.losses, 0);
        expect("orders with two outcomes", sums.doubles, 0);
        expect(
            "outcomes and withdrawn orders",
            sums.outcomes + sums.withdrawn,
            sums.orders,
        );
        let tests = self.number(&format!(
            "SELECT COUNT(*) FROM tests WHERE run = {reference}"
        ))?;
        expect("tests", sums.tests, tests);
        let of_tests = self.number(&format!(
            "SELECT COUNT(*) FROM outcomes u JOIN orders o ON o.campaign = u.campaign AND o.number = u.number
             WHERE u.campaign = '{campaign}' AND u.body IS NOT NULL AND o.purpose::json->>'test' <> '0'"
        ))?;
        expect("outcomes of tests", of_tests, tests);
        let other = self.number(&format!(
            "SELECT COUNT(*) FROM tests a JOIN tests b ON b.number = a.number
             WHERE a.run = {reference} AND b.run = {run}
             AND (a.seed, a.verdict, a.steps) IS DISTINCT FROM (b.seed, b.verdict, b.steps)"
        ))?;
        expect("tests that differ", other, 0);
        let stepped = |run| {
            self.number(&format!(
                "SELECT COALESCE(SUM(json_array_length(body::json)), 0) FROM steps WHERE run = {run}"
            ))
        };
        expect("steps", stepped(run)?, stepped(reference)?);
        let covered = |run| {
            self.ask(&format!(
                "SELECT md5(string_agg(s::text, ' ' ORDER BY s::text)) FROM coverage,
                 json_array_elements(switches::json) s WHERE run = {run}"
            ))
        };
        expect(
            "coverage that differs",
            u64::from(covered(run)? != covered(reference)?),
            0,
        );
        let failures = |run| {
            self.number(&format!(
                "SELECT COUNT(DISTINCT deviation) FROM found WHERE run = {run}"
            ))
        };
        expect("failures", failures(run)?, failures(reference)?);
        match wrong.is_empty() {
            true => Ok(sums),
            false => Err(format!("{campaign} does not add up: {}", wrong.join("; "))),
        }
    }
}
