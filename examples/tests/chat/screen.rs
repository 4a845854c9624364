//! A terminal of a given size, and what a person sees on it.

use std::{
    fs::File,
    io::{Read, Write},
    num::NonZeroU16,
    process::Command,
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use rexpect::process::PtyProcess;
use rexpect::process::WaitStatus;
use rustix::termios::{Winsize, tcgetpgrp, tcgetsid, tcsetwinsize};

use crate::place::{Place, Program};

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Screen {
    process: PtyProcess,
    terminal: File,
    output: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// All that was printed.
    pub(crate) raw: Vec<u8>,
}

impl Screen {
    /// Starts the program once the terminal has its size.
    pub(crate) fn start(place: &Place, program: &Program, columns: u16, rows: u16) -> Self {
        Self::start_as(r#"exec "$0" "$@""#, place, program, columns, rows)
    }

    /// Starts the program as a job of a shell, which tells when it is stopped and goes on with it at the next line, and tells
    /// in the end whether the terminal's modes are those of before.
    pub(crate) fn start_in_shell(place: &Place, program: &Program, columns: u16, rows: u16) -> Self {
        let script = r#"set -m; before=$(stty -g); "$0" "$@"; code=$?
            while [ $code -eq 148 ] || [ $code -eq 146 ]; do echo; echo "[stopped]"; read -r line; fg; code=$?; done
            [ "$before" = "$(stty -g)" ] && echo "[modes as before]"; exit $code"#;
        Self::start_as(script, place, program, columns, rows)
    }

    /// `$0` and `$@` are the program.
    pub(crate) fn start_as(script: &str, place: &Place, program: &Program, columns: u16, rows: u16) -> Self {
        let script = format!("stty echo cols {columns} rows {rows}; {script}");
        let mut shell = place.program("/bin/sh").args(&["-c", &script]).env("PATH", "/usr/bin:/bin");
        // the screen here cuts off what xterm cuts off
        shell = shell.env("XTERM_VERSION", "XTerm(390)").env("TERM", "xterm-256color");
        shell.command.arg(program.command.get_program()).args(program.command.get_args());
        shell.command.envs(program.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let process = PtyProcess::new(shell.command).unwrap();
        let terminal = process.get_file_handle().unwrap();
        let mut reader = process.get_file_handle().unwrap();
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // the end is an error on Linux
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let parser = vt100::Parser::new(size(rows), size(columns), 1_000);
        Self { process, terminal, output, parser, raw: Vec::new() }
    }

    /// The rows, without those at the end that are empty.
    pub(crate) fn rows(&self) -> Vec<String> {
        let (_, columns) = self.parser.screen().size();
        let mut rows: Vec<_> =
            self.parser.screen().rows(0, columns.into()).map(|row| row.trim_end().to_owned()).collect();
        rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
        rows
    }

    pub(crate) fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// All rows, those that have scrolled away included.
    pub(crate) fn scrolled(&mut self) -> Vec<String> {
        let (_, columns) = self.parser.screen().size();
        let mut rows = Vec::new();
        for back in (1..=self.parser.screen().scrollback_len()).rev() {
            self.parser.screen_mut().set_scrollback(back);
            rows.extend(self.parser.screen().rows(0, columns.into()).next().map(|row| row.trim_end().to_owned()));
        }
        self.parser.screen_mut().set_scrollback(0);
        rows.extend(self.rows());
        rows
    }

    pub(crate) fn pastes_in_brackets(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    /// Sends a signal to what runs in the foreground.
    pub(crate) fn signal(&self, name: &str) {
        kill(name, tcgetpgrp(&self.terminal).unwrap().as_raw_pid());
    }

    /// Ends the shell, and with it the terminal, as closing its window does.
    pub(crate) fn close(&self) {
        kill("KILL", tcgetsid(&self.terminal).unwrap().as_raw_pid());
    }

    /// The cell where this text begins.
    pub(crate) fn cell(&self, text: &str) -> &vt100::Cell {
        let rows = self.rows();
        let row = rows.iter().position(|row| row.contains(text)).unwrap_or_else(|| panic!("no `{text}`: {rows:#?}"));
        let column = console::measure_text_width(rows[row].split(text).next().unwrap());
        self.parser.screen().cell(u16::try_from(row).unwrap(), u16::try_from(column).unwrap()).unwrap()
    }

    /// Waits until the screen is so.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !so(self) {
            // what is drawn anew again and again is no sign of what is waited for
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.take(&bytes),
                Err(error) => panic!("not `{what}` ({error}):\n{}", self.text()),
            }
        }
    }

    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) {
        self.until(text, |screen| screen.text().contains(text));
    }

    /// Waits for an empty prompt at the bottom.
    #[track_caller]
    pub(crate) fn ready(&mut self) {
        self.until("a prompt", |screen| {
            let (row, column) = screen.parser.screen().cursor_position();
            // with bracketed paste on, the editor reads
            column == 2
                && screen.parser.screen().bracketed_paste()
                && screen.rows().get(usize::from(row)).is_some_and(|row| row == ">")
        });
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.types_bytes(keys.as_bytes());
    }

    pub(crate) fn types_bytes(&mut self, keys: &[u8]) {
        self.terminal.write_all(keys).unwrap();
    }

    /// Types a line at the prompt, once it is there.
    #[track_caller]
    pub(crate) fn line(&mut self, line: &str) {
        self.ready();
        self.types(&format!("{line}\r"));
        self.until(line, |screen| screen.text().contains(line));
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.screen_mut().set_size(size(rows), size(columns));
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.terminal, size).unwrap();
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn ended(&mut self, code: i32) {
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.take(&bytes),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("the program does not end ({error}):\n{}", self.text()),
            }
        }
        let status = self.process.wait().unwrap();
        assert!(matches!(status, WaitStatus::Exited(_, got) if got == code), "{status:?}:\n{}", self.text());
    }

    fn take(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        self.parser.process(bytes);
    }
}

fn kill(name: &str, process: i32) {
    assert!(Command::new("kill").args(["-s", name, &process.to_string()]).status().unwrap().success());
}

fn size(of: u16) -> NonZeroU16 {
    NonZeroU16::new(of).unwrap()
}
