//! Shows the changes of a pass as a unified diff.
//!
//! A pass that drops one op renumbers every value after it. Values are therefore renamed first: a
//! line that is the same but for numbers gets the numbers that it had before, and a value that is
//! new is marked, as in `%7'`.

use std::collections::{HashMap, HashSet};

use similar::{DiffOp, TextDiff, capture_diff_slices};

/// The diff of a program's text before and after a pass.
pub(crate) fn unified(pass: &str, before: &str, after: &str) -> String {
    let after = aligned(before, after);
    let diff = TextDiff::from_lines(before, &after);
    let mut diff = diff.unified_diff();
    let (old, new) = (format!("before {pass}"), format!("after {pass}"));
    diff.header(&old, &new).to_string()
}

/// `after` with its values named as in `before`.
fn aligned(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let blank = |lines: &[&str]| -> Vec<String> {
        let blank = |line: &&str| rename(line, |_| "%".to_owned());
        lines.iter().map(blank).collect()
    };
    let ops = capture_diff_slices(similar::Algorithm::Patience, &blank(&old), &blank(&new));
    let mut twin: Vec<Option<&str>> = vec![None; new.len()];
    for op in ops {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            for i in 0..len {
                twin[new_index + i] = Some(old[old_index + i]);
            }
        }
    }
    let mut names = Names::default();
    let mut text = String::with_capacity(after.len());
    for (line, twin) in new.iter().zip(twin) {
        // Numbers start again in each function.
        if line.trim_start().starts_with("fed.") && line.ends_with('{') {
            names = Names::default();
        }
        let mut old = twin.map(values).unwrap_or_default().into_iter();
        text += &rename(line, |name| names.of(name, old.next()));
        text.push('\n');
    }
    text
}

#[derive(Default)]
struct Names {
    of: HashMap<String, String>,
    taken: HashSet<String>,
}

impl Names {
    /// The old name of a value: what it was called before, or else in the twin of its definition.
    fn of(&mut self, name: &str, twin: Option<String>) -> String {
        if let Some(known) = self.of.get(name) {
            return known.clone();
        }
        let numbered = name[1..].starts_with(|c: char| c.is_ascii_digit());
        let old = match twin {
            _ if !numbered => name.to_owned(),
            Some(twin) if !self.taken.contains(&twin) => twin,
            _ => format!("{name}'"),
        };
        self.taken.insert(old.clone());
        self.of.insert(name.to_owned(), old.clone());
        old
    }
}

/// The values of a line, in order.
fn values(line: &str) -> Vec<String> {
    let mut found = vec![];
    rename(line, |name| {
        found.push(name.to_owned());
        String::new()
    });
    found
}

/// A line with each `%name` replaced.
fn rename(line: &str, mut to: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        let name = &rest[at..];
        let end = name[1..].find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
        let end = end.map_or(name.len(), |end| end + 1);
        out += &rest[..at];
        out += &to(&name[..end]);
        rest = &name[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
tensor.graph @f(%x: f32[2]) {
  %0 = tensor.exp %x : f32[2]
  %1 = tensor.exp %x : f32[2]
  %2 = tensor.add %0, %1 : f32[2]
  %3 = tensor.neg %2 : f32[2]
  return y = %3
}
";

    #[test]
    fn only_what_differs_is_shown() {
        let after = BEFORE
            .replace("  %1 = tensor.exp %x : f32[2]\n", "")
            .replace("%2 = tensor.add %0, %1", "%1 = tensor.add %0, %0")
            .replace("%3 = tensor.neg %2", "%2 = tensor.neg %1")
            .replace("y = %3", "y = %2");
        let expected = "\
--- before cse
+++ after cse
@@ -1,7 +1,6 @@
 tensor.graph @f(%x: f32[2]) {
   %0 = tensor.exp %x : f32[2]
-  %1 = tensor.exp %x : f32[2]
-  %2 = tensor.add %0, %1 : f32[2]
+  %2 = tensor.add %0, %0 : f32[2]
   %3 = tensor.neg %2 : f32[2]
   return y = %3
 }
";
        assert_eq!(unified("cse", BEFORE, &after), expected);
    }

    #[test]
    fn a_new_value_is_marked() {
        let after = BEFORE.replace("tensor.neg", "tensor.abs");
        let diff = unified("p", BEFORE, &after);
        assert!(diff.contains("+  %3' = tensor.abs %2"), "{diff}");
    }

    #[test]
    fn nothing_changed_is_no_text() {
        assert_eq!(unified("p", BEFORE, BEFORE), "");
    }
}
