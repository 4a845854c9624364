use std::fs;

use tempfile::TempDir;

use super::Workspace;

/// A workspace in a folder with a secret beside it.
fn workspace() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("root/src")).unwrap();
    fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    fs::write(folder.path().join("root/a b.txt"), "one\r\ntwo\n").unwrap();
    fs::write(folder.path().join("root/src/lib.rs"), "//! x").unwrap();
    let workspace = Workspace::new(folder.path().join("root")).unwrap();
    (folder, workspace)
}

#[tokio::test]
async fn lists_sorted_with_kinds_and_sizes() {
    let (folder, workspace) = workspace();
    fs::write(folder.path().join("root/Z"), "").unwrap();
    assert_eq!(workspace.list_files(None).await.unwrap(), "file 0 Z\nfile 9 a b.txt\ndir - src\n");
    for path in ["src", "./src/", "src/."] {
        assert_eq!(workspace.list_files(Some(path)).await.unwrap(), "file 5 lib.rs\n", "{path}");
    }
    fs::create_dir(folder.path().join("root/void")).unwrap();
    assert_eq!(workspace.list_files(Some("void")).await.unwrap(), "the folder is empty");
    assert!(workspace.list_files(Some("none")).await.unwrap_err().contains("there is no `none`"));
    assert!(workspace.list_files(Some("a b.txt")).await.unwrap_err().contains("is no folder"));
}

#[tokio::test]
async fn lists_at_most_200_entries() {
    let (folder, workspace) = workspace();
    let many = folder.path().join("root/many");
    fs::create_dir(&many).unwrap();
    for (count, last) in [(200, "file 0 f199"), (201, "and 1 more"), (203, "and 3 more")] {
        for number in 0..count {
            fs::write(many.join(format!("f{number:03}")), "").unwrap();
        }
        let listing = workspace.list_files(Some("many")).await.unwrap();
        assert_eq!(listing.lines().last(), Some(last));
        assert_eq!(listing.lines().filter(|line| line.starts_with("file ")).count(), 200);
    }
}

#[tokio::test]
async fn reads_numbered_lines() {
    let (folder, workspace) = workspace();
    let whole = "a b.txt, lines 1-2 of 2:\n    1  one\n    2  two\n";
    assert_eq!(workspace.read_file("a b.txt", None).await.unwrap(), whole);
    assert_eq!(workspace.read_file("a b.txt", Some(0)).await.unwrap(), whole);
    assert_eq!(workspace.read_file("a b.txt", Some(2)).await.unwrap(), "a b.txt, lines 2-2 of 2:\n    2  two\n");
    assert!(workspace.read_file("a b.txt", Some(3)).await.unwrap_err().contains("at most 2"));
    assert!(workspace.read_file("a b.txt", Some(u32::MAX)).await.is_err());
    let absolute = folder.path().canonicalize().unwrap().join("root/a b.txt");
    assert_eq!(workspace.read_file(absolute.to_str().unwrap(), None).await.unwrap(), whole);
    fs::write(folder.path().join("root/void"), "").unwrap();
    assert_eq!(workspace.read_file("void", None).await.unwrap(), "void is empty");
    assert!(workspace.read_file("src", None).await.unwrap_err().contains("use ListFiles"));
    assert!(workspace.read_file("", None).await.unwrap_err().contains("use ListFiles"));
    assert!(workspace.read_file("a b.txt/x", None).await.is_err());
    assert!(workspace.read_file("a\0b", None).await.is_err());
}

#[tokio::test]
async fn big_files_come_in_parts_that_lose_no_line() {
    let (folder, workspace) = workspace();
    for (lines, length) in [(450, 3), (60, 900), (40, 5_000)] {
        let line = "ü".repeat(length / 2);
        fs::write(folder.path().join("root/big"), format!("{line}\n").repeat(lines)).unwrap();
        let (mut next, mut seen) = (Some(1), 0);
        while let Some(first) = next {
            let part = workspace.read_file("big", Some(first)).await.unwrap();
            assert!(part.len() < 18 * 1024, "{}", part.len());
            let (heading, body) = part.split_once('\n').unwrap();
            assert!((1..=200).contains(&body.lines().count()));
            for shown in body.lines() {
                seen += 1;
                assert!(shown.starts_with(&format!("{seen:>5}  ü")), "{shown}");
                assert_eq!(shown.ends_with(" bytes cut]"), length > 1_000);
            }
            next = heading.split_once("first_line ").map(|(_, number)| number.trim_end_matches(':').parse().unwrap());
        }
        assert_eq!(seen, lines);
    }
    fs::write(folder.path().join("root/big"), vec![b'x'; 4 * 1024 * 1024 + 1]).unwrap();
    assert!(workspace.read_file("big", None).await.unwrap_err().contains("larger than"));
}

#[tokio::test]
async fn binary_files_are_refused() {
    let (folder, workspace) = workspace();
    for (bytes, at) in [(&b"abc\0def"[..], "byte 3"), (b"caf\xe9", "byte 3"), (b"\xff\xfeh\0", "byte 0")] {
        fs::write(folder.path().join("root/odd"), bytes).unwrap();
        let error = workspace.read_file("odd", None).await.unwrap_err();
        assert!(error.contains(at) && error.contains("only text files"), "{error}");
    }
}

#[tokio::test]
async fn nothing_outside_is_reached_by_path() {
    let (folder, workspace) = workspace();
    let outside = folder.path().join("secret.txt");
    let sibling = format!("{}-2/x", folder.path().canonicalize().unwrap().join("root").display());
    for path in ["../secret.txt", "src/../../secret.txt", "src/..", "/etc/passwd", outside.to_str().unwrap(), &sibling]
    {
        let error = workspace.read_file(path, None).await.unwrap_err();
        assert!(error.contains("`..`") || error.contains("outside the workspace"), "{error}");
        assert!(workspace.list_files(Some(path)).await.is_err(), "{path}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_inside_only() {
    use std::os::unix::fs::symlink;

    let (folder, workspace) = workspace();
    let root = folder.path().join("root");
    symlink("../a b.txt", root.join("src/inside")).unwrap();
    symlink(folder.path().join("secret.txt"), root.join("absolute")).unwrap();
    symlink("../secret.txt", root.join("relative")).unwrap();
    symlink("..", root.join("folder")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();

    assert!(workspace.read_file("src/inside", None).await.unwrap().contains("one"));
    for path in ["absolute", "relative", "folder/secret.txt", "magic/etc/passwd"] {
        let error = workspace.read_file(path, None).await.unwrap_err();
        assert!(error.contains("leads outside"), "{error}");
    }
    for path in ["folder", "magic", "magic/etc"] {
        assert!(workspace.list_files(Some(path)).await.unwrap_err().contains("leads outside"), "{path}");
    }
    assert!(workspace.read_file("loop", None).await.is_err());
    assert!(workspace.read_file("dangling", None).await.unwrap_err().contains("there is no"));
    assert!(workspace.list_files(None).await.unwrap().contains("link - absolute\n"));
}

#[cfg(unix)]
#[tokio::test]
async fn pipes_sockets_and_devices_do_not_block() {
    use std::os::unix::{fs::symlink, net::UnixListener};

    let (folder, workspace) = workspace();
    let root = folder.path().join("root");
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    symlink("pipe", root.join("link")).unwrap();
    for path in ["pipe", "socket", "link"] {
        let error = workspace.read_file(path, None).await.unwrap_err();
        assert!(error.contains("only regular files"), "{error}");
    }
    assert!(workspace.list_files(Some("pipe")).await.unwrap_err().contains("is no folder"));
    let devices = Workspace::new("/dev").unwrap();
    for path in ["null", "zero"] {
        assert!(devices.read_file(path, None).await.unwrap_err().contains("only regular files"));
    }
    assert!(workspace.list_files(None).await.unwrap().contains("other - pipe\n"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_of_any_bytes_are_listed() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let (folder, workspace) = workspace();
    let odd = folder.path().join("root/odd");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join(OsStr::from_bytes(b"a\xff")), "").unwrap();
    fs::write(odd.join("b\nfile 1 c"), "").unwrap();
    assert_eq!(workspace.list_files(Some("odd")).await.unwrap(), "file 0 a\u{fffd}\nfile 0 \"b\\nfile 1 c\"\n");
}

#[test]
fn the_root_must_be_a_folder() {
    let (folder, _) = workspace();
    assert!(Workspace::new(folder.path().join("secret.txt")).is_err());
    assert!(Workspace::new(folder.path().join("none")).is_err());
}
