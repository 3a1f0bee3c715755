//! `dayshift status --watch` on a pseudo terminal, and the content of its screen.

use std::{fs::File, io::Read as _, process::Stdio};

use super::{OFFICE, STOPPED, busy, compare, evening, state};
use crate::{
    fake_server::Cluster,
    program::{Running, without_colors},
    pseudo_terminal::pseudo_terminal,
};

/// `status --watch` on its own terminal.
struct Terminal {
    _program: Running,
    keyboard: File,
    screen: Screen,
    unread: String,
}

impl Terminal {
    fn on(cluster: &Cluster, size: (u16, u16), variables: &[(&str, &str)]) -> Self {
        let (columns, rows) = size;
        let (keyboard, slave) = pseudo_terminal(columns, rows);
        let program = cluster
            .command()
            .args(["status", "--watch"])
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        Self {
            _program: Running(program),
            keyboard,
            screen: Screen::of(columns.into(), rows.into()),
            unread: String::new(),
        }
    }

    /// The screen as soon as a complete frame contains this text.
    fn wait_for(&mut self, text: &str) -> String {
        loop {
            self.read_picture();
            let shown = self.screen.text();
            if shown.contains(text) {
                return shown;
            }
        }
    }

    /// Reads to the end of a frame, which erases everything below it.
    fn read_picture(&mut self) {
        const END: &str = "\u{1b}[J";
        loop {
            if let Some(at) = self.unread.find(END) {
                let rest = self.unread.split_off(at + END.len());
                self.screen.show(&std::mem::replace(&mut self.unread, rest));
                return;
            }
            let mut buffer = [0; 65_536];
            let count = self.keyboard.read(&mut buffer).unwrap();
            self.unread += str::from_utf8(&buffer[..count]).unwrap();
        }
    }
}

/// A minimal terminal: wrapped lines, colors, and the home position.
struct Screen {
    cells: Vec<Vec<(char, String)>>,
    at: (usize, usize),
    colour: String,
}

impl Screen {
    fn of(columns: usize, rows: usize) -> Self {
        Self {
            cells: vec![vec![(' ', String::new()); columns]; rows],
            at: (0, 0),
            colour: String::new(),
        }
    }

    fn show(&mut self, text: &str) {
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            let (row, column) = self.at;
            match character {
                '\r' => self.at.1 = 0,
                '\n' => {
                    assert!(
                        row + 1 < self.cells.len(),
                        "the output has more lines than the screen"
                    );
                    self.at.0 += 1;
                }
                '\u{1b}' => {
                    assert_eq!(rest.next(), Some('['));
                    let mut numbers = String::new();
                    let end = loop {
                        match rest.next().unwrap() {
                            it if it.is_ascii_alphabetic() => break it,
                            it => numbers.push(it),
                        }
                    };
                    self.control(&numbers, end);
                }
                _ if column == self.cells[row].len() => {
                    self.at = (row + 1, 0);
                    self.put(character);
                }
                _ => self.put(character),
            }
        }
    }

    fn put(&mut self, character: char) {
        let (row, column) = self.at;
        self.cells[row][column] = (character, self.colour.clone());
        self.at.1 += 1;
    }

    fn control(&mut self, numbers: &str, end: char) {
        let (row, column) = self.at;
        let clear = |cells: &mut [(char, String)]| cells.fill((' ', String::new()));
        match (numbers, end) {
            ("", 'H') => self.at = (0, 0),
            // After a full row the cursor is on its last column, as in xterm.
            ("", 'K') => {
                let column = column.min(self.cells[row].len() - 1);
                clear(&mut self.cells[row][column..]);
            }
            ("", 'J') => {
                clear(&mut self.cells[row][column..]);
                self.cells[row + 1..].iter_mut().for_each(|row| clear(row));
            }
            ("0" | "", 'm') => self.colour.clear(),
            (colour, 'm') => self.colour = format!("\u{1b}[{colour}m"),
            other => panic!("{other:?}"),
        }
    }

    /// The content with colors, up to the last line that is not empty.
    fn text(&self) -> String {
        let lines = self.cells.iter().map(|row| {
            let mut line = String::new();
            let mut last = "";
            let used = row.iter().rposition(|(it, _)| *it != ' ');
            for (character, colour) in &row[..used.map_or(0, |it| it + 1)] {
                if colour != last {
                    line += if colour.is_empty() {
                        "\u{1b}[0m"
                    } else {
                        colour
                    };
                    last = colour;
                }
                line.push(*character);
            }
            if !last.is_empty() {
                line += "\u{1b}[0m";
            }
            line + "\n"
        });
        lines.collect::<String>().trim_end_matches('\n').to_owned() + "\n"
    }
}

#[test]
fn the_screen_fits_its_width_with_and_without_color() {
    let cluster = busy();
    let [coloured, plain] = [&[][..], &[("NO_COLOR", "1")]]
        .map(|variables| Terminal::on(&cluster, (80, 40), variables).wait_for("woken"));
    compare("screen-80-colour.txt", &coloured);
    assert_eq!(without_colors(&coloured), plain);
    // The additional text of a wide table depends on the clock.
    let wide = Terminal::on(&cluster, (200, 40), &[]).wait_for("woken");
    let heading = |text: &str| without_colors(text).lines().next().unwrap().to_owned();
    assert_eq!(heading(&wide), heading(&cluster.dayshift(&["status"]).out));
}

#[test]
fn a_low_screen_keeps_its_header_and_counts_omitted_lines() {
    let cluster = busy();
    let mut terminal = Terminal::on(&cluster, (80, 6), &[("NO_COLOR", "1")]);
    compare("screen-80x6.txt", &terminal.wait_for("NAMESPACE"));
}

#[test]
fn a_frame_replaces_the_previous_one() {
    let cluster = evening();
    for name in ["api", "web"] {
        cluster.deployment(name, 3, OFFICE);
    }
    let mut terminal = Terminal::on(&cluster, (80, 24), &[("NO_COLOR", "1")]);
    let before = terminal.wait_for("no controller");
    assert_contains!(before, "note: dev/api, dev/web: no controller");
    state(&cluster, "web", STOPPED);
    cluster.api.scale("dev", "web", 0).unwrap();
    cluster.api.delete("dev", "api").unwrap();
    let after = loop {
        let shown = terminal.wait_for("stopped");
        if !shown.contains("api") && !shown.contains("web    3") {
            break shown;
        }
    };
    assert_eq!(after.lines().count(), 2, "{after}");
    assert_starts_with!(after, "NAMESPACE ");
    cluster.api.delete("dev", "web").unwrap();
    let nothing = "No workload has a schedule in namespace dev.";
    assert_eq!(terminal.wait_for(nothing), format!("{nothing}\n"));
}

/// xterm, Terminal.app and the terminal of VS Code erase the last column of a full row if a line is
/// erased after it (https://github.com/alacritty/alacritty/issues/6159 lists more).
#[test]
fn a_line_as_wide_as_the_screen_keeps_its_last_column() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let table = cluster.dayshift(&["status"]).out;
    let widest = table.lines().map(|it| it.chars().count()).max().unwrap();
    let columns = u16::try_from(widest).unwrap();
    let colour = "\u{1b}[34mstopped\u{1b}[0m";
    for (variables, name) in [(&[("NO_COLOR", "1")][..], "stopped"), (&[], colour)] {
        let mut terminal = Terminal::on(&cluster, (columns, 24), variables);
        let shown = terminal.wait_for("web");
        // The time advances.
        let row = |hours| format!("{name}   19:00 JST   start Mon 09:00 JST (in 2 d {hours} h)");
        assert!(
            [12, 13].map(row).iter().any(|row| shown.contains(row)),
            "{shown}"
        );
    }
}
