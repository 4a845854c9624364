//! TLS: the server's certificate is checked, against what `SSL_CERT_FILE` names.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use insomnia_tasks_examples::scripted::Reply;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::{
    place::{Place, Ran, server as model},
    server::{Server, own},
};

struct Certificates {
    /// Who is to be trusted.
    root: String,
    certificate: String,
    key: String,
}

/// A root, and a certificate of it for these names.
fn certificates(names: &[&str]) -> Certificates {
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &root).unwrap();
    Certificates { root: root.pem(), certificate: certificate.pem(), key: key.serialize_pem() }
}

/// A server that speaks TLS.
fn start(folder: &Path, certificates: &Certificates) -> Option<Server> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        own(&path);
        path.display().to_string()
    };
    let certificate = file("certificate.pem", &certificates.certificate);
    let key = file("key.pem", &certificates.key);
    let settings = [format!("ssl_cert_file={certificate}"), format!("ssl_key_file={key}"), "ssl=on".to_owned()];
    Server::start(&settings.iter().map(String::as_str).collect::<Vec<_>>())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn is_used_and_the_certificate_is_checked() {
    let place = Place::new();
    let (ours, others) = (certificates(&["127.0.0.1"]), certificates(&["127.0.0.1"]));
    let keys = tempfile::tempdir().unwrap();
    let Some(server) = start(keys.path(), &ours) else { return };
    let model = model(vec![Reply::text("safe"); 9]).await;
    let trust = |name: &str, root: &str| {
        fs::write(place.path(name), root).unwrap();
        place.path(name).display().to_string()
    };
    let (ours, others) = (trust("ours.pem", &ours.root), trust("others.pem", &others.root));
    let run = |parameters: &str, trusted: &str| -> Ran {
        let session = format!("{}/tls?{parameters}", server.url());
        let flags = ["--base-url", &model.base_url(), "--session", &session, "-p", "A"];
        place.bare(&flags).env("SSL_CERT_FILE", trusted).run()
    };

    for parameters in ["sslmode=require", "sslmode=verify-full", "sslmode=prefer", "user=tester"] {
        run(parameters, &ours).ended(0);
    }
    let used =
        "select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'seen'";
    let through = run("sslmode=require&application_name=seen", &ours);
    assert_eq!(through.code, Some(0), "{through:?}");
    let seen: Option<bool> = server.client().await.query_one(used, &[]).await.unwrap().get(0);
    assert_ne!(seen, Some(false));
    for parameters in ["sslmode=require", "sslmode=prefer"] {
        run(parameters, &others).ended(3).told(&["cannot reach the database", "invalid peer certificate"]);
    }
    run("sslmode=disable", &others).ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn is_refused_for_another_host_and_missed_where_it_is_required() {
    let place = Place::new();
    let elsewhere = certificates(&["db.example"]);
    let keys = tempfile::tempdir().unwrap();
    let Some(server) = start(keys.path(), &elsewhere) else { return };
    fs::write(place.path("root.pem"), &elsewhere.root).unwrap();
    let root = place.path("root.pem").display().to_string();
    let run = |database: &str| {
        let session = format!("{database}/tls?sslmode=require");
        place.bare(&["--demo", "--session", &session, "-p", "A"]).env("SSL_CERT_FILE", &root).run()
    };
    run(&server.url()).ended(3).told(&["cannot reach the database", "not valid for name"]);
    let Some(plain) = crate::server::shared() else { return };
    run(&plain.url()).ended(3).told(&["cannot reach the database", "does not support TLS", "TLS settings"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn is_missed_where_the_server_insists_on_it() {
    let place = Place::new();
    let ours = certificates(&["127.0.0.1"]);
    let keys = tempfile::tempdir().unwrap();
    let Some(server) = start(keys.path(), &ours) else { return };
    fs::write(place.path("root.pem"), &ours.root).unwrap();
    let root = place.path("root.pem").display().to_string();
    let admin = server.client().await;
    admin.batch_execute("create role careful login superuser").await.unwrap();
    let rules: String = admin.query_one("show hba_file", &[]).await.unwrap().get(0);
    fs::write(rules, "hostssl all careful 127.0.0.1/32 trust\nhost all tester 127.0.0.1/32 trust\n").unwrap();
    admin.batch_execute("select pg_reload_conf()").await.unwrap();
    let run = |mode: &str| {
        let session = format!("{}/careful?sslmode={mode}", server.url().replace("tester@", "careful@"));
        place.bare(&["--demo", "--session", &session, "-p", "A"]).env("SSL_CERT_FILE", &root).run()
    };
    // the rules are read some time later
    while run("require").code != Some(0) {}
    run("prefer").ended(0);
    run("disable").ended(3).told(&["refuses this user", "no encryption", "insists on TLS"]);
}
