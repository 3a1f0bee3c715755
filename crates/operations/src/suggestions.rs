//! Suggestions for workloads and namespaces that do not exist.

use dayshift_cluster::{
    Query, Workload,
    read::{MissingWorkload, find, namespace_names},
};
use dayshift_text::nearest;
use dayshift_workload::KindTable;
use kube::Client;

/// The most namespaces that a suggestion names.
const MAX_NAMESPACES: usize = 3;

/// A hint for a workload that does not exist: a similar name in its namespace, or the other namespaces that
/// contain the name. `None` if there is neither, or if the user may not list workloads.
pub async fn suggest_workload(client: &Client, missing: &MissingWorkload) -> Option<String> {
    let kinds = [missing.kind.clone()];
    let here = Query::all(&kinds, std::slice::from_ref(&missing.namespace), None);
    let (found, _) = find::<Workload>(client, &here).await.ok()?;
    let names = found.iter().map(|(_, workload)| workload.name());
    if let Some(name) = nearest(&missing.name, names) {
        return Some(format!("did you mean `{name}`?"));
    }
    let everywhere = Query::all(&kinds, &[], None);
    let (found, _) = find::<Workload>(client, &everywhere).await.ok()?;
    let named = found.iter().map(|(_, workload)| workload);
    let named = named.filter(|workload| workload.name() == missing.name);
    let namespaces: Vec<_> = named
        .map(Workload::namespace)
        .take(MAX_NAMESPACES)
        .collect();
    match &*namespaces {
        [] => None,
        [only] => Some(format!("it is in {only}: use -n {only}")),
        [first, ..] => Some(format!(
            "it is in {}: use -n, such as -n {first}",
            namespaces.join(", ")
        )),
    }
}

/// A hint for a namespace that does not exist: a similar name, of a namespace or of a kind in `table`.
pub async fn suggest_namespace(client: &Client, name: &str, table: &KindTable) -> Option<String> {
    let names = namespace_names(client).await.unwrap_or_default();
    let similar = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
    // In `depoly/web`, the part before the slash is taken for a namespace.
    let similar = similar.or_else(|| nearest_kind(name, table))?;
    Some(format!("did you mean `{similar}`?"))
}

/// The name of a kind that a misspelled word means, in the form of the word: `deploy` for `depoly`.
pub fn nearest_kind(word: &str, table: &KindTable) -> Option<String> {
    let known = table.known();
    let names: Vec<_> = known
        .iter()
        .flat_map(|kind| {
            [
                kind.short_name().to_owned(),
                kind.singular(),
                kind.plural().to_owned(),
            ]
        })
        .collect();
    nearest(word, names.iter().map(|name| &**name)).map(str::to_owned)
}
