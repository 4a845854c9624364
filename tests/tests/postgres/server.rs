//! A Postgres of the tests' own: a data folder, a port and a socket folder that nobody else uses.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use insomnia_tasks::session::postgres::PostgresSessions;
use tokio_postgres::NoTls;

/// A running server. It stops when this is dropped or the test process ends, however that happens: a shell waits for the
/// end of its standard input.
pub(crate) struct Server {
    pub(crate) port: u16,
    folder: PathBuf,
    settings: Vec<String>,
    watcher: Child,
    pid: u32,
}

/// The server that most tests share. It does not wait for the disk, for it is never killed.
pub(crate) fn shared() -> Option<&'static Server> {
    static SHARED: OnceLock<Option<Server>> = OnceLock::new();
    SHARED.get_or_init(|| Server::start(&["fsync=off", "max_connections=200"])).as_ref()
}

/// `let server = server!();`: the shared server, or the test ends here.
macro_rules! server {
    () => {
        match $crate::server::shared() {
            Some(server) => server,
            None => return,
        }
    };
}
pub(crate) use server;

/// Says that a test cannot run, or fails where all must.
pub(crate) fn skip(what: &str) {
    let required = std::env::var("INSOMNIA_TESTS_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{what} is missing; tests/postgres/setup.sh installs it");
    eprintln!("skipped: {what} is missing; tests/postgres/setup.sh installs it");
}

impl Server {
    /// Makes and starts a server with these settings; none if the programs are missing.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            skip("PostgreSQL (initdb, postgres)");
            return None;
        };
        // the shell removes it: a static is never dropped
        let folder = tempfile::tempdir().unwrap().keep();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        for part in ["data", "socket"] {
            let path = folder.join(part);
            fs::create_dir(&path).unwrap();
            own(&path);
        }
        let made = unprivileged(&programs.join("initdb"))
            .args(["--no-sync", "--no-locale", "--encoding=UTF8", "--username=tester", "--auth=trust"])
            .arg("-D")
            .arg(folder.join("data"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        // passwords are for one test: with them each new connection costs the client thousands of hashes
        let users =
            "local all all trust\nhost all tester 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(folder.join("data/pg_hba.conf"), users).unwrap();
        let settings: Vec<_> = settings.iter().map(ToString::to_string).collect();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let (watcher, pid) = launch(&folder, port, &settings);
        let server = Self { port, folder, settings, watcher, pid };
        server.wait();
        Some(server)
    }

    /// The address of a database.
    pub(crate) fn url_of(&self, database: &str) -> String {
        self.url_at(self.port, database)
    }

    /// The address of a database by way of another port.
    pub(crate) fn url_at(&self, port: u16, database: &str) -> String {
        format!("postgres://tester@127.0.0.1:{port}/{database}")
    }

    /// The address of the database that is always there.
    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The sessions in the database that is always there.
    pub(crate) fn sessions(&self) -> PostgresSessions {
        PostgresSessions::connect(&self.url()).unwrap()
    }

    /// A client for statements of the test's own.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        connect(&self.url()).await.unwrap()
    }

    /// A new database; its name.
    pub(crate) async fn database(&self, name: &str, options: &str) -> String {
        self.client().await.batch_execute(&format!("create database {name} {options}")).await.unwrap();
        name.to_owned()
    }

    /// Kills every process of the server at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        signal("STOP", &[self.pid]);
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.pid)).unwrap_or_default();
        let mut pids: Vec<u32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        pids.push(self.pid);
        signal("KILL", &pids);
        while pids.iter().any(|pid| alive(*pid)) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Starts it again after [`Server::kill`], with the same data.
    pub(crate) fn restart(&mut self) {
        writeln!(self.watcher.stdin.as_mut().unwrap(), "keep").unwrap();
        drop(self.watcher.stdin.take());
        self.watcher.wait().unwrap();
        (self.watcher, self.pid) = launch(&self.folder, self.port, &self.settings);
        self.wait();
    }

    fn wait(&self) {
        let url = self.url();
        let ready = async {
            for _ in 0..600 {
                if connect(&url).await.is_some() {
                    return true;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            false
        };
        // its own thread and runtime: the caller's may be one that must not be blocked on
        let ready = std::thread::scope(|scope| scope.spawn(|| runtime().block_on(ready)).join().unwrap());
        let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(ready, "the server did not start: {}", log());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}

pub(crate) async fn connect(url: &str) -> Option<tokio_postgres::Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.ok()?;
    tokio::spawn(connection);
    Some(client)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Starts the server below a shell that stops it and removes its folder when nobody holds the shell's standard input any
/// more, unless it was told to keep them.
fn launch(folder: &Path, port: u16, settings: &[String]) -> (Child, u32) {
    const WATCH: &str = r#"log=$1; shift
        "$@" >"$log" 2>&1 & server=$!
        echo $server; told=$(cat); [ -z "$told" ] || exit 0
        kill -QUIT $server; wait $server; rm -rf "${log%/log}""#;
    let server = unprivileged(&programs().unwrap().join("postgres"));
    let mut command = Command::new("sh");
    command.args(["-c", WATCH, "sh"]).arg(folder.join("log")).arg(server.get_program()).args(server.get_args());
    command.arg("-D").arg(folder.join("data")).arg("-k").arg(folder.join("socket"));
    command.args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
    settings.iter().for_each(|setting| {
        command.args(["-c", setting]);
    });
    let mut watcher = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(watcher.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pid = line.trim().parse().unwrap();
    (watcher, pid)
}

/// Where the server's programs are.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    folders.into_iter().find(|folder| ["initdb", "postgres"].iter().all(|program| folder.join(program).exists()))
}

/// A command that does not run as root, for the server refuses that.
pub(crate) fn unprivileged(program: &Path) -> Command {
    let Some((user, group)) = other_user() else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".to_owned()]).arg(program);
    command
}

/// Gives a path to the user of [`unprivileged`].
pub(crate) fn own(path: &Path) {
    if let Some((user, group)) = other_user() {
        chown(path, Some(user), Some(group)).unwrap();
    }
}

/// The user and group `nobody`, if this is root.
fn other_user() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let fields = users.lines().find(|line| line.starts_with("nobody:")).unwrap().split(':').collect::<Vec<_>>();
    Some((fields[2].parse().unwrap(), fields[3].parse().unwrap()))
}

fn signal(name: &str, pids: &[u32]) {
    let pids = pids.iter().map(ToString::to_string);
    // some may be gone already
    let _ = Command::new("kill").arg(format!("-{name}")).args(pids).stderr(Stdio::null()).status();
}

/// Whether a process is there and no zombie.
fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
