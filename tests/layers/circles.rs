//! Circles in a graph of imports.

use std::collections::{BTreeMap, BTreeSet};

/// For each file, the files that it imports from.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

/// One shortest circle for each group of files that import each other, as `a -> b -> a`.
pub fn circles(imports: &Imports) -> Vec<String> {
    let mut found = vec![];
    let mut grouped = BTreeSet::new();
    for file in imports.keys() {
        if grouped.contains(file) {
            continue;
        }
        if let Some(circle) = shortest(imports, file) {
            let to = reachable(imports, file);
            let group = to
                .into_iter()
                .filter(|other| reachable(imports, other).contains(file));
            grouped.extend(group);
            found.push(circle.join(" -> "));
        }
    }
    found
}

/// The files that one imports from, directly or through others.
fn reachable(imports: &Imports, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(file) = next.pop() {
        for other in imports.get(file).into_iter().flatten() {
            if seen.insert(other.clone()) {
                next.push(other);
            }
        }
    }
    seen
}

/// The shortest way from a file back to it, by breadth first search.
fn shortest(imports: &Imports, start: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for other in imports.get(file).into_iter().flatten() {
            if other == start {
                let mut path = vec![start.to_owned(), file.to_owned()];
                let mut at = file;
                while let Some(before) = came_from.get(at) {
                    path.push((*before).to_owned());
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            if !came_from.contains_key(other.as_str()) {
                came_from.insert(other, file);
                queue.push_back(other);
            }
        }
    }
    None
}
