//! The commands of a page, as a shell splits them, and made small.

/// The lines of a page's code blocks that call the command, with continued lines joined.
pub fn commands(page: &str) -> Vec<String> {
    let mut found = vec![];
    let mut inside = false;
    for line in page.replace("\\\n", " ").lines() {
        if line.starts_with("```") {
            inside = matches!(line, "```sh" | "```console");
        } else if inside {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let command = line.starts_with("fedround ").then(|| line.to_owned());
            found.extend(command);
        }
    }
    found
}

/// Words as a shell splits them, without a comment. Operators stand between spaces.
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The arguments with one round and one seed, and with values in place of what a page leaves open.
pub fn small(words: &[String]) -> Vec<String> {
    let mut small: Vec<String> = vec![];
    let one = |flag: &str| ["--rounds", "--seeds", "--random"].contains(&flag);
    for word in words.iter().filter(|word| *word != "--open") {
        let value = match word.as_str() {
            _ if small.last().is_some_and(|flag| one(flag)) => "1",
            "DIR" => "data",
            "S" => "1",
            "ALGORITHM" | "SPEC" => "adcol",
            "mu=M" => "mu=1",
            "target=T" => "target=1",
            "400:0.1" => "0:0.1",
            other => other,
        };
        small.push(value.to_owned());
    }
    let mut add = |flag: &str, value: Option<&str>| {
        if !small.iter().any(|word| word == flag) {
            let added = [Some(flag), value].into_iter().flatten();
            small.extend(added.map(str::to_owned));
        }
    };
    match (words[0].as_str(), words.len()) {
        ("run" | "inspect", _) => add("--rounds", Some("1")),
        ("compare" | "sweep", _) => {
            add("--rounds", Some("1"));
            add("--seeds", Some("1"));
        }
        ("reproduce", 2..) => add("--dry-run", None),
        _ => {}
    }
    small
}

/// The settings of a run as arguments of `fedround config`.
pub fn settings(words: &[String]) -> Vec<String> {
    let mut config = vec!["config".to_owned()];
    let mut rest = small(words).into_iter().skip(1);
    while let Some(word) = rest.next() {
        if word == "--out" {
            rest.next();
        } else {
            config.push(word);
        }
    }
    config
}

#[test]
fn words_are_those_of_a_shell() {
    let found = words("fedround run 'a(b)' --set x=\"1 2\"   # a comment");
    assert_eq!(found, ["fedround", "run", "a(b)", "--set", "x=1 2"]);
}
