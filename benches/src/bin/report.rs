//! Writes `docs/BENCHMARKS.md` and its plot from what the benches of this run have left in `target`.

use std::{fmt::Write, fs, path::Path, process::Command};

use insomnia_tasks_benches::talk;
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

const COUNTS: [usize; 5] = [10, 100, 1_000, 3_000, 10_000];

const WHAT: &str = "CPU per request is given twice. *Making the body* is what a loop does by itself before a request: from what it keeps to the \
    bytes that its HTTP client is given. *A whole request* is all that happens in the thread from the prompt to the answer in the history: \
    making the body, the HTTP client, the kernel's copying into the socket, and reading the answer.\n\n";

fn main() -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let docs = root.join("docs");
    fs::write(docs.join("bench-requests.svg"), plot()?)?;
    fs::write(docs.join("BENCHMARKS.md"), page()?)?;
    Ok(())
}

/// The median of a bench, in nanoseconds: of what its rounds say.
fn median(name: &str) -> Result<f64, Failure> {
    let mut rounds = Vec::new();
    for round in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/target/figures/rounds"))? {
        let path = round?.path().join(name).join("new/estimates.json");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let estimates: Value = serde_json::from_str(&text)?;
        let median = estimates["median"]["point_estimate"].as_f64();
        rounds.push(median.ok_or_else(|| format!("{}: no median", path.display()))?);
    }
    middle(rounds).ok_or_else(|| format!("{name}: no rounds").into())
}

fn middle(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

fn figures(name: &str) -> Result<Value, Failure> {
    let path = format!("{}/target/figures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    Ok(serde_json::from_str(&fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?)?)
}

/// A table of figures, each with the limit that it is held against.
struct Table(String);

impl Table {
    fn row(&mut self, what: &str, figure: &str, peer: &str, ratio: f64, most: f64) {
        let kept = if ratio <= most { "yes" } else { "**no**" };
        _ = writeln!(self.0, "| {what} | {figure} | {peer} | {} | {} | {kept} |", short(ratio), short(most));
    }

    /// Two medians and their ratio.
    fn compare(&mut self, what: &str, ours: f64, peer: f64, most: f64) {
        self.row(what, &time(ours), &time(peer), ours / peer, most);
    }
}

fn page() -> Result<String, Failure> {
    let mut page = format!(
        "# What it costs\n\nWritten by `just bench`; every figure is the median of the rounds of one run, in each of which all are measured by turns; each ratio is to the peer beside \
         it. Times are CPU time of the one thread that does the work, in user and kernel mode \
         (`CLOCK_THREAD_CPUTIME_ID`); the server runs on threads of its own, which are not counted.\n\n{}\n",
        machine()?
    );
    let head = "| what | this crate | peer | ratio | at most | kept |\n|---|---|---|---|---|---|\n";
    let mut table = Table(head.to_owned());
    for count in [1_000, 10_000] {
        let of = |who: &str| median(&format!("body/{who}/{count}"));
        table.compare(&format!("making the body of {count} messages, typed"), of("crate")?, of("typed")?, 0.05);
        table.compare(&format!("making the body of {count} messages, memcpy of it"), of("crate")?, of("memcpy")?, 2.0);
    }
    for count in [1_000, 10_000] {
        let of = |who: &str| median(&format!("request/{who}/{count}"));
        table.compare(&format!("a whole request with {count} messages, typed loop"), of("crate")?, of("typed")?, 0.05);
    }
    let of = |who: &str, count: usize| median(&format!("request/{who}/{count}"));
    table.compare("a whole request with 1000 messages, rig's agent", of("crate", 1_000)?, of("rig", 1_000)?, 0.1);
    let growth = |ours: f64, peer: f64| ours / peer / 10.0;
    let (long, short_one) = (of("crate", 10_000)?, of("crate", 1_000)?);
    table.row(
        "growth of a whole request, 10000 against 1000 messages, by that of the bytes",
        &time(long),
        &time(short_one),
        growth(long, short_one),
        1.2,
    );
    let (long, short_one) = (median("body/crate/10000")?, median("body/crate/1000")?);
    table.row(
        "growth of making the body, 10000 against 1000 messages, by that of the bytes",
        &time(long),
        &time(short_one),
        growth(long, short_one),
        1.2,
    );
    let (quiet, due) = (median("tasks/without/10000")?, median("tasks/with/10000")?);
    table.row(
        "tasks in a request without a reminder, 10000 finished, 10 active",
        &time(quiet),
        "1 µs",
        quiet / 1e3,
        1.0,
    );
    table.row("the same with a reminder", &time(due), "10 µs", due / 1e4, 1.0);
    table.compare(
        "8 times the streamed arguments (1 MB in deltas of 7 bytes)",
        median("stream/arguments/1000000")?,
        median("stream/arguments/125000")?,
        9.0,
    );
    let memory = figures("memory")?;
    for (kind, name) in [("talked", "in memory"), ("resumed", "resumed from files")] {
        let number = |key: &str| memory[kind][key].as_f64().ok_or("no figure of memory");
        let (heap, bytes) = (number("heap")?, number("message_bytes")?);
        table.row(
            &format!("heap of an idle Pod with 100 messages, {name}"),
            &bytes_of(heap),
            &format!("{} of messages, x 1.5 + 8 KB", bytes_of(bytes)),
            heap / (1.5 * bytes + 8_192.0),
            1.0,
        );
    }
    let mut more = String::new();
    match figures("builds") {
        Ok(figures) => more = builds(&mut table, &figures)?,
        Err(error) => eprintln!("no rows about builds: {error}"),
    }
    page += WHAT;
    page += &table.0;
    page += &reach()?;
    page += &more;
    page += "\n## A request against the length of the history\n\n![cost per request](bench-requests.svg)\n\n";
    page += "`transport` sends the same bytes, ready before, through the same HTTP client: no loop can be below it. `copied` copies them \
             into a new allocation first, as a loop must whose history grows. In brackets: this crate by that.\n\n";
    page += "| messages | this crate | typed async-openai loop | rig's agent | copied | transport |\n|---|---|---|---|---|---|\n";
    for count in COUNTS {
        let of = |who: &str| median(&format!("request/{who}/{count}"));
        let (ours, typed, rig, copied, floor) =
            (of("crate")?, of("typed")?, of("rig")?, of("copied")?, of("transport")?);
        writeln!(
            page,
            "| {count} | {} | {} ({}) | {} ({}) | {} ({}) | {} ({}) |",
            time(ours),
            time(typed),
            short(ours / typed),
            time(rig),
            short(ours / rig),
            time(copied),
            short(ours / copied),
            time(floor),
            short(ours / floor)
        )?;
    }
    page +=
        "\n## Idle sessions\n\nThousands of Pods in one process; files and threads are those that one Pod adds.\n\n";
    page += "| Pods | heap each | resident each | open files each | threads each |\n|---|---|---|---|---|\n";
    for (kind, name) in [("empty", "in memory"), ("empty-files", "with a session's files")] {
        let number = |key: &str| memory[kind][key].as_f64().ok_or("no figure of memory");
        writeln!(
            page,
            "| {} {name} | {} | {} | {} | {} |",
            number("pods")?,
            bytes_of(number("heap")?),
            bytes_of(number("resident")?),
            short(number("files")?),
            short(number("threads")?)
        )?;
    }
    page += "\nThe open file of a session in a folder is its lock: the system lets it go when the file is closed, however the process \
             ends. `history.json` is open only while it is written. A service that keeps more sessions than it may have files open \
             closes idle ones (`Pod::close`) and resumes them by folder. Sessions in Postgres have none: they share the pool's \
             connections, as all sessions of a runtime share those to the model.\n";
    Ok(page)
}

/// Clean builds of the crate and of async-openai alone; the text tells the crates that come on top.
fn builds(table: &mut Table, builds: &Value) -> Result<String, Failure> {
    let build = |who: &str, what: &str| {
        let rounds = builds.as_array().into_iter().flatten();
        let figures: Option<Vec<_>> = rounds.map(|round| round[who][what].as_f64()).collect();
        figures.and_then(middle).ok_or("no figure of a build")
    };
    let (ours, peer) = (build("crate", "seconds")?, build("alone", "seconds")?);
    table.row(
        "CPU time of a clean build, async-openai alone",
        &format!("{} s", short(ours)),
        &format!("{} s", short(peer)),
        ours / peer,
        1.15,
    );
    let (crates, peers) = (build("crate", "crates")?, build("alone", "crates")?);
    table.row(
        "crates in it without this one and its macros, async-openai's + 15",
        &short(crates),
        &format!("{} + 15", short(peers)),
        crates / (peers + 15.0),
        1.0,
    );
    let own = build("crate", "own")?;
    let more: Vec<_> = builds[0]["more"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let split = if ours > 1.15 * peer {
        format!(
            "Of the {} s that a clean build takes more, {} s are this crate and its macros by themselves, which no choice of crates \
             makes less; the crates that it brings take the rest.\n",
            short(ours - peer),
            short(own)
        )
    } else {
        String::new()
    };
    Ok(format!(
        "{split}Crates that async-openai does not bring: {}. Of these `schemars` with its company makes the tools' schemas, \
         `indexmap` with its company keeps their keys in declared order, `zlib-rs` reads replies that gateways send compressed, \
         `hmac-sha256` makes digests in builds without the TLS library that does it otherwise.\n",
        more.join(", ")
    ))
}

/// Why a figure is out of reach, with the measurement that shows it.
fn reach() -> Result<String, Failure> {
    let mut text = String::from("\n");
    for count in [1_000, 10_000] {
        let of = |who: &str| median(&format!("body/{who}/{count}"));
        let (ours, typed, copy) = (of("crate")?, of("typed")?, of("memcpy")?);
        if ours > 2.0 * copy {
            writeln!(
                text,
                "Making the body of {count} messages is one copy from {count} places. Beyond a memcpy from one place each message takes {}, \
                 to follow its address and to call for its copy; at this size the memcpy itself takes {} for each.",
                time((ours - copy) / count as f64),
                time(copy / count as f64)
            )?;
        }
        if ours > typed / 20.0 {
            writeln!(
                text,
                "Making the body of {count} messages is one copy. To copy it from one place, a memcpy, costs {} of the typed loop; here it comes \
                 from {count} places, which costs {} of that.",
                short(copy / typed),
                short(ours / copy)
            )?;
        }
        let of = |who: &str| median(&format!("request/{who}/{count}"));
        let (typed, copied) = (of("typed")?, of("copied")?);
        if copied > typed / 20.0 {
            writeln!(
                text,
                "A whole request of {count} messages cannot cost a twentieth of the typed loop's {}: to copy the same bytes once, ready before, \
                 send them and read the answer (`copied` below) costs {} by itself, {} of it. What is left is the HTTP client's and the kernel's.",
                time(typed),
                time(copied),
                short(copied / typed)
            )?;
        }
    }
    let growth =
        |what: &str| Ok::<_, Failure>(median(&format!("{what}/10000"))? / median(&format!("{what}/1000"))? / 10.0);
    let bytes = |count: usize| talk::items(count).iter().map(|item| item.json().len() + 1).sum::<usize>() as f64;
    let (ours, memcpy) = (growth("body/crate")?, growth("body/memcpy")?);
    if ours > 1.2 {
        writeln!(
            text,
            "Making the body grows by {} of the growth of its bytes; a memcpy of it grows by {}: {} do not fit in the caches that \
             hold {}, and twice that is touched.",
            short(ours),
            short(memcpy),
            bytes_of(bytes(10_000)),
            bytes_of(bytes(1_000))
        )?;
    }
    let (ours, transport, copied) = (growth("request/crate")?, growth("request/transport")?, growth("request/copied")?);
    if ours > 1.2 {
        writeln!(
            text,
            "A whole request grows by {} of the growth of its bytes. Of that the HTTP client and the kernel alone (`transport`) grow by {}, \
             with one copy before (`copied`) by {}.",
            short(ours),
            short(transport),
            short(copied)
        )?;
    }
    Ok(text)
}

fn machine() -> Result<String, Failure> {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or("?")
        .trim_start_matches([' ', '\t', ':']);
    let cores = std::thread::available_parallelism()?;
    let run = |program: &str, argument: &str| -> Result<String, Failure> {
        Ok(String::from_utf8(Command::new(program).arg(argument).output()?.stdout)?.trim().to_owned())
    };
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"))?;
    let version = |name: &str| {
        let start = lock.find(&format!("name = \"{name}\"\n")).unwrap_or_default();
        lock[start..].split('"').nth(3).unwrap_or("?").to_owned()
    };
    let crates: Vec<_> = ["insomnia-tasks", "async-openai", "rig-core", "rig-agent", "reqwest", "serde_json"]
        .map(|name| format!("{name} {}", version(name)))
        .to_vec();
    Ok(format!(
        "{model}, {cores} cores, {}; {}; {}.\n",
        run("uname", "-srm")?,
        run("rustc", "--version")?,
        crates.join(", ")
    ))
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{} ns", short(n)),
        n if n < 1e6 => format!("{} µs", short(n / 1e3)),
        n => format!("{} ms", short(n / 1e6)),
    }
}

fn bytes_of(bytes: f64) -> String {
    format!("{} KB", short(bytes / 1024.0))
}

/// Three digits.
fn short(number: f64) -> String {
    let digits = (2 - number.abs().max(1e-9).log10().floor() as i32).clamp(0, 4) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Both axes are logarithmic.
fn plot() -> Result<String, Failure> {
    let x = |count: f64| 70.0 + 150.0 * (count.log10() - 1.0);
    let y = |nanoseconds: f64| 360.0 - 75.0 * (nanoseconds.log10() - 4.0);
    let mut svg = String::from(concat!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 700 420\" font-family=\"sans-serif\" font-size=\"12\">\n",
        "<rect width=\"700\" height=\"420\" fill=\"white\"/>\n<text x=\"70\" y=\"18\">CPU time per request</text>\n",
        "<text x=\"240\" y=\"408\">messages in the history</text>\n"
    ));
    for exponent in 4..=8 {
        let nanoseconds = 10f64.powi(exponent);
        let at = y(nanoseconds);
        writeln!(
            svg,
            "<path d=\"M70 {at}H520\" stroke=\"#ddd\"/><text x=\"62\" y=\"{}\" text-anchor=\"end\">{}</text>",
            at + 4.0,
            time(nanoseconds)
        )?;
    }
    for exponent in 1..=4 {
        let count = 10f64.powi(exponent);
        writeln!(
            svg,
            "<path d=\"M{0} 60V360\" stroke=\"#ddd\"/><text x=\"{0}\" y=\"380\" text-anchor=\"middle\">{count}</text>",
            x(count)
        )?;
    }
    let lines = [
        ("crate", "this crate", "#0a7d4f"),
        ("typed", "typed async-openai loop", "#c2410c"),
        ("rig", "rig's agent", "#6d28d9"),
        ("transport", "ready bytes alone", "#888"),
    ];
    for (place, (who, name, colour)) in lines.into_iter().enumerate() {
        let mut points = String::new();
        for count in COUNTS {
            write!(points, "{:.1},{:.1} ", x(count as f64), y(median(&format!("request/{who}/{count}"))?))?;
        }
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.trim_end()
        )?;
        writeln!(svg, "<text x=\"535\" y=\"{}\" fill=\"{colour}\">{name}</text>", 90 + 20 * place)?;
    }
    Ok(svg + "</svg>\n")
}
