//! "Did you mean" for misspelt names.

use fedround_names::nearest;

use crate::model::Hook;

/// `` did you mean `x`? `` or `` expected one of `a`, `b` ``, to follow `help: `.
pub fn suggestion(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => {
            let quoted: Vec<String> = candidates.iter().map(|c| format!("`{c}`")).collect();
            format!("expected one of {}", quoted.join(", "))
        }
    }
}

/// The hook that `name` probably misspells; if none, what a method that is no hook is to be.
pub fn hook_suggestion(name: &str) -> String {
    let help = suggestion(name, &Hook::names());
    if nearest(name, Hook::names()).is_some() {
        return help;
    }
    format!("{help}; code of your own is a function outside of the impl: `{name}(k, w, self.lr)`")
}
