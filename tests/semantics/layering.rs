//! The layers of the code: imports form a tree, the pure crates depend on no client and no runtime, and
//! no file exceeds 1,000 lines.
#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The maximum length of a Rust file, in lines.
const MAX_LINES: usize = 1_000;

/// The directories of the repository whose files people write and read.
const ROOTS: [&str; 5] = ["src", "crates", "tests", "benches", "fuzz"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a directory, except those that a build or a fuzzer wrote.
fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["target", "node_modules", "corpus"].contains(&name) {
                files.extend(rust_files(&path));
            }
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A path in Rust, such as `["crate", "clock", "Timer"]`.
type ModulePath = Vec<String>;

/// The imports of one file, as absolute paths within its crate.
#[derive(Debug, Default)]
struct Imports {
    /// Paths that the file's own code uses.
    used: BTreeSet<ModulePath>,
    /// Names that the file re-exports, with the path of each. A glob is stored as `*`.
    exported: Vec<(String, ModulePath)>,
}

/// Reads the imports and the inline `crate::` and `super::` paths of a module's source text. Unit tests are
/// left out: a test may use a module that builds on the tested one.
fn imports(module: &[String], text: &str) -> Imports {
    let text = text
        .find("#[cfg(test)]\nmod tests {")
        .map_or(text, |tests| &text[..tests]);
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap())
        .fold(String::new(), |code, line| code + line + "\n");
    let children = children(&code);
    let absolute = |path: ModulePath| match path[0].as_str() {
        "crate" => Some(path),
        "self" => Some([module, &path[1..]].concat()),
        "super" => {
            let levels = path.iter().take_while(|segment| *segment == "super");
            let levels = levels.count();
            let parent = &module[..module.len().checked_sub(levels)?];
            Some([parent, &path[levels..]].concat())
        }
        first if children.contains(first) => Some([module, &path[..]].concat()),
        _ => None,
    };
    let mut imports = Imports::default();
    let mut rest = String::new();
    for line in statements(&code) {
        let statement = line.trim_start();
        let (is_exported, tree) = match statement.find("use ") {
            Some(0) => (false, &statement[4..]),
            Some(at) if statement.starts_with("pub") && !statement[..at].contains('=') => {
                (true, &statement[at + 4..])
            }
            _ => {
                rest.push_str(line);
                continue;
            }
        };
        let mut leaves = Vec::new();
        expand(&[], &tree.replace(char::is_whitespace, " "), &mut leaves);
        for (path, name) in leaves {
            let Some(path) = absolute(path) else { continue };
            if is_exported {
                imports.exported.push((name, path));
            } else {
                imports.used.insert(path);
            }
        }
    }
    for start in ["crate::", "super::"] {
        for (at, _) in rest.match_indices(start) {
            let before = rest[..at].chars().next_back();
            if before.is_some_and(|char| char.is_alphanumeric() || ":_$".contains(char)) {
                continue;
            }
            let path =
                rest[at..].split(|char: char| !char.is_alphanumeric() && !"_:".contains(char));
            let segments = path.take(1).flat_map(|path| path.split("::"));
            let path = segments.filter(|segment| !segment.is_empty());
            imports
                .used
                .extend(absolute(path.map(str::to_owned).collect()));
        }
    }
    imports
}

/// The modules that a file declares.
fn children(code: &str) -> BTreeSet<&str> {
    let declarations = code.lines().filter_map(|line| {
        let (before, name) = line.trim().strip_suffix(';')?.split_once("mod ")?;
        (before.is_empty() || before.starts_with("pub")).then_some(name)
    });
    declarations.collect()
}

/// Splits code after each `;` and brace that ends a line: enough to find `use` statements.
fn statements(code: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut start = 0;
    let mut is_import = false;
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let word = line.trim_start();
        if at == start {
            is_import = word.starts_with("use ")
                || (word.starts_with("pub") && word.contains("use ") && !word.contains("fn "));
        }
        at += line.len();
        if !is_import || line.trim_end().ends_with(';') {
            statements.push(&code[start..at]);
            start = at;
        }
    }
    statements
}

/// Expands the tree of a `use` statement into its paths, each with the name that it binds. Returns the length
/// of the text that it consumed.
fn expand(prefix: &[String], tree: &str, leaves: &mut Vec<(ModulePath, String)>) -> usize {
    let mut path = prefix.to_vec();
    let mut at = 0;
    loop {
        at += tree[at..].len() - tree[at..].trim_start_matches([' ', ':']).len();
        let rest = &tree[at..];
        if rest.starts_with('{') {
            at += 1;
            while at < tree.len() && !tree[at..].trim_start().starts_with('}') {
                at += expand(&path, &tree[at..], leaves);
                at += tree[at..].len() - tree[at..].trim_start_matches([' ', ',']).len();
            }
            return at + tree[at..].find('}').map_or(0, |end| end + 1);
        }
        let is_word = |char: char| char.is_alphanumeric() || char == '_' || char == '*';
        let word: String = rest.chars().take_while(|char| is_word(*char)).collect();
        at += word.len();
        if word.is_empty() {
            return at.max(1);
        }
        if word != "self" || path.is_empty() {
            path.push(word);
        }
        let rest = tree[at..].trim_start();
        if rest.starts_with("::") {
            continue;
        }
        let name = match rest.strip_prefix("as ") {
            Some(alias) => {
                let alias: String = alias.chars().take_while(|char| is_word(*char)).collect();
                at = tree.len() - rest.len() + 3 + alias.len();
                alias
            }
            None => path.last().unwrap().clone(),
        };
        leaves.push((path, name));
        return at;
    }
}

/// Which modules each module of a crate uses, with re-exports followed to the module that defines a name.
fn dependencies(src: &Path) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let mut modules = BTreeMap::new();
    for file in rust_files(src) {
        let name = file.strip_prefix(src).unwrap().with_extension("");
        let segments = name
            .iter()
            .map(|segment| segment.to_str().unwrap().to_owned());
        let mut module: ModulePath = ["crate".to_owned()].into_iter().chain(segments).collect();
        if ["mod", "lib", "main"].contains(&module.last().unwrap().as_str()) {
            module.pop();
        }
        let text = fs::read_to_string(&file).unwrap();
        let imports = imports(&module, &text);
        // The program's `main.rs` imports the library by its name.
        modules.entry(module).or_insert(imports);
    }
    let targets = |path: &[String]| {
        let mut found = BTreeSet::new();
        resolve(&modules, path, 0, &mut found);
        found
    };
    let dependencies = modules.iter().map(|(module, imports)| {
        let used = imports.used.iter().flat_map(|path| targets(path));
        (module.clone(), used.filter(|used| used != module).collect())
    });
    dependencies.collect()
}

/// Adds the modules that define `path`.
fn resolve(
    modules: &BTreeMap<ModulePath, Imports>,
    path: &[String],
    depth: usize,
    found: &mut BTreeSet<ModulePath>,
) {
    let prefixes = (1..=path.len()).rev().map(|end| path[..end].to_vec());
    let Some(module) = prefixes
        .into_iter()
        .find(|prefix| modules.contains_key(prefix))
    else {
        return;
    };
    let Some(name) = path.get(module.len()).filter(|_| depth < 8) else {
        // The module itself is imported. Which of its items the code uses is not known, so the whole module
        // counts.
        found.insert(module);
        return;
    };
    let exported = &modules[&module].exported;
    let named: Vec<_> = exported
        .iter()
        .filter(|(export, _)| export == name)
        .collect();
    if !named.is_empty() {
        for (_, target) in named {
            let target = [target, &path[module.len() + 1..]].concat();
            resolve(modules, &target, depth + 1, found);
        }
        return;
    }
    let before = found.len();
    for (_, target) in exported.iter().filter(|(export, _)| export == "*") {
        let target = [&target[..target.len() - 1], &path[module.len()..]].concat();
        resolve(modules, &target, depth + 1, found);
    }
    if found.len() == before {
        found.insert(module);
    }
}

/// The groups of nodes that reach each other.
fn cycles<N: Ord + Clone>(edges: &BTreeMap<N, BTreeSet<N>>) -> Vec<BTreeSet<N>> {
    let reachable = |from: &N| {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![from.clone()];
        while let Some(node) = waiting.pop() {
            for next in edges.get(&node).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    waiting.push(next.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<N, BTreeSet<N>> = edges
        .keys()
        .map(|node| (node.clone(), reachable(node)))
        .collect();
    let mut groups = BTreeSet::new();
    for (node, reached) in &reach {
        if reached.contains(node) {
            let group: BTreeSet<N> = reached
                .iter()
                .filter(|other| reach.get(other).is_some_and(|back| back.contains(node)))
                .cloned()
                .collect();
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

/// The dependencies between the entries of each directory: for `crate::a::x` and `crate::b::y`, between
/// `a` and `b`.
fn directory_dependencies(
    dependencies: &BTreeMap<ModulePath, BTreeSet<ModulePath>>,
) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let mut between: BTreeMap<ModulePath, BTreeSet<ModulePath>> = BTreeMap::new();
    for (module, used) in dependencies {
        for other in used {
            let common = module.iter().zip(other).take_while(|(a, b)| a == b).count();
            // A module and its own child are parts of one entry.
            if common < module.len() && common < other.len() {
                let entry = between.entry(module[..=common].to_vec()).or_default();
                entry.insert(other[..=common].to_vec());
            }
        }
    }
    between
}

#[test]
fn imports_form_no_cycle() {
    // The minimum number of dependencies, which shows that the parser finds them.
    for (src, least) in [
        ("src", 100),
        ("crates/schedule/src", 40),
        ("crates/workload/src", 50),
        ("crates/manifest/src", 80),
        ("crates/cluster/src", 40),
        ("crates/controller/src", 80),
        ("crates/activator/src", 15),
        ("crates/kube-in-memory/src", 25),
    ] {
        let dependencies = dependencies(&repository().join(src));
        let count: usize = dependencies.values().map(BTreeSet::len).sum();
        assert!(count >= least, "{src}: only {count} dependencies found");
        let files = cycles(&dependencies);
        assert!(
            files.is_empty(),
            "{src}: files import each other: {files:#?}"
        );
        let directories = cycles(&directory_dependencies(&dependencies));
        assert!(
            directories.is_empty(),
            "{src}: directories import each other: {directories:#?}"
        );
    }
}

#[test]
fn no_file_exceeds_a_thousand_lines() {
    let files = ROOTS
        .iter()
        .flat_map(|root| rust_files(&repository().join(root)));
    let mut count = 0;
    for file in files {
        count += 1;
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{}: {lines} lines", file.display());
    }
    assert!(count > 300, "only {count} files found");
}

/// All direct and indirect dependencies of a package in `Cargo.lock`, including those of its tests.
fn dependency_closure(package: &str) -> BTreeSet<String> {
    let lock = fs::read_to_string(repository().join("Cargo.lock")).unwrap();
    let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for section in lock.split("[[package]]").skip(1) {
        // The package has the line `name = "a"`. Each dependency has a line with `"b",` or
        // `"b 1.2.3",`.
        let mut quoted = section.lines().filter_map(|line| {
            let word = line.split('"').nth(1)?.split(' ').next()?;
            let is_name = line.starts_with("name") || line.starts_with(" \"");
            is_name.then_some(word)
        });
        let name = quoted.next().unwrap();
        direct.entry(name).or_default().extend(quoted);
    }
    let mut closure = BTreeSet::new();
    let mut waiting = vec![package];
    while let Some(name) = waiting.pop() {
        if closure.insert(name.to_owned()) {
            waiting.extend(&direct[name]);
        }
    }
    closure
}

/// Cargo does not run the examples of these crates.
#[test]
fn crates_without_doc_tests_have_no_examples() {
    let mut manifests = vec![repository().join("Cargo.toml")];
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        manifests.push(entry.unwrap().path().join("Cargo.toml"));
    }
    let is_without = |manifest: &&PathBuf| {
        let text = fs::read_to_string(manifest).unwrap();
        text.contains("\ndoctest = false\n")
    };
    let without: Vec<_> = manifests.iter().filter(is_without).collect();
    assert_eq!(without.len(), 6);
    for manifest in without {
        for file in rust_files(&manifest.with_file_name("src")) {
            let text = fs::read_to_string(&file).unwrap();
            let has_example = text.lines().any(|line| {
                let line = line.trim_start();
                ["/// ```", "//! ```"].iter().any(|it| line.starts_with(it))
            });
            assert!(!has_example, "{}", file.display());
        }
    }
}

#[test]
fn pure_crates_depend_on_no_client_and_no_runtime() {
    let impure = ["hyper", "k8s-openapi", "kube-core", "tokio"];
    let depends_on = |package: &str| {
        let closure = dependency_closure(package);
        impure.map(|name| closure.contains(name))
    };
    for pure in [
        "dayshift-text",
        "dayshift-schedule",
        "dayshift-workload",
        "dayshift-manifest",
    ] {
        assert_eq!(depends_on(pure), [false; 4], "{pure}: {impure:?}");
    }
    assert_eq!(depends_on("dayshift"), [true; 4], "the check finds nothing");
}

#[test]
fn finds_imports_in_trees_paths_and_re_exports() {
    let module = ["crate", "a"].map(str::to_owned);
    let text = "mod inner;\npub use inner::Shown;\nuse crate::{\n    b::{C, d::{self, E as F}},\n    g::*, \
                // crate::h\n};\nuse super::i::J;\nuse std::fmt;\nfn k() { crate::l::m(); }\n\
                #[cfg(test)]\nmod tests {\n    use crate::n::O;\n}\n";
    let imports = imports(&module, text);
    let used: Vec<_> = imports.used.iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::b::C",
        "crate::b::d",
        "crate::b::d::E",
        "crate::g::*",
        "crate::i::J",
        "crate::l::m",
    ];
    assert_eq!(used, expected);
    let exported: Vec<_> = imports
        .exported
        .iter()
        .map(|(name, path)| (name.as_str(), path.join("::")))
        .collect();
    assert_eq!(exported, [("Shown", "crate::a::inner::Shown".to_owned())]);
}

#[test]
fn follows_a_re_export_to_the_file_that_defines_the_name() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod one;\nmod two;\npub use one::A;\n");
    write("one/mod.rs", "mod a;\npub use a::A;\n");
    write("one/a.rs", "use crate::two::B;\npub struct A(B);\n");
    write("two.rs", "pub struct B;\nfn f(_: crate::A) {}\n");
    let found = cycles(&dependencies(directory.path()));
    assert_eq!(found.len(), 1, "{found:?}");
    let files: Vec<_> = found[0].iter().map(|module| module.join("::")).collect();
    assert_eq!(files, ["crate::one::a", "crate::two"]);
    write("two.rs", "pub struct B;\n");
    assert!(cycles(&dependencies(directory.path())).is_empty());
}

#[test]
fn finds_cycles_but_not_diamonds() {
    let edges = |pairs: &[(&'static str, &'static str)]| {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, to) in pairs {
            edges.entry(from).or_default().insert(to);
        }
        cycles(&edges)
    };
    assert!(edges(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    assert_eq!(
        edges(&[("a", "b"), ("b", "c"), ("c", "b")]),
        [BTreeSet::from(["b", "c"])]
    );
}
