//! A pseudo terminal for commands that detect whether they write to one.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    os::unix::ffi::OsStrExt as _,
    process::{Child, Stdio},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::{fake_server::Cluster, program::Ended};

/// The two ends of a terminal with this number of columns and rows: the first one reads the output of
/// programs that write to the second one.
pub(crate) fn pseudo_terminal(columns: u16, rows: u16) -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let winsize = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, winsize).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let path = OsStr::from_bytes(name.as_bytes());
    let slave = OpenOptions::new().read(true).write(true).open(path);
    (File::from(master), slave.unwrap())
}

/// A command whose standard input and standard error are a terminal. Give it a time limit, because a test
/// reads until the command ends or shows a text.
pub(crate) struct OnTerminal {
    program: Child,
    terminal: File,
    shown: String,
}

impl OnTerminal {
    pub(crate) fn start(cluster: &Cluster, terminal_name: &str, arguments: &[&str]) -> Self {
        let (terminal, slave) = pseudo_terminal(80, 24);
        let program = cluster
            .command()
            .args(arguments)
            .env("TERM", terminal_name)
            .stdin(slave.try_clone().unwrap())
            .stdout(Stdio::piped())
            .stderr(slave)
            .spawn()
            .unwrap();
        Self {
            program,
            terminal,
            shown: String::new(),
        }
    }

    /// Reads more output. Returns false if the command has ended.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 4_096];
        // Linux reports an error once no program has the terminal open.
        let count = self.terminal.read(&mut buffer).unwrap_or_default();
        self.shown += str::from_utf8(&buffer[..count]).unwrap();
        count > 0
    }

    pub(crate) fn wait_for(&mut self, text: &str) {
        while !self.shown.contains(text) {
            assert!(self.read(), "{text}: {:?}", self.shown);
        }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.program.try_wait().unwrap().is_some()
    }

    /// Types a line.
    pub(crate) fn answer(&mut self, line: &str) {
        writeln!(self.terminal, "{line}").unwrap();
    }

    /// The result, with everything that the terminal received.
    pub(crate) fn end(mut self) -> Ended {
        while self.read() {}
        let ended: Ended = self.program.wait_with_output().unwrap().into();
        Ended {
            err: self.shown,
            ..ended
        }
    }
}
