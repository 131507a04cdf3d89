//! What to write for a setting of the run that was given as a hyper-parameter.

use clap::{Arg, Command, CommandFactory};

use crate::args::Args;
use crate::terminal::command_line::words;

/// The switch of the setting; `None` if `fedround run` has none of this name.
pub(super) fn setting_switch(field: &str) -> Option<String> {
    let mut given = words().skip(1);
    let command = given.find(|word| !word.starts_with('-'));
    advice(field, command.as_deref())
}

/// The same, in `command`.
fn advice(field: &str, command: Option<&str>) -> Option<String> {
    let long = field.replace('_', "-");
    let args = Args::command();
    let value = match switch(&args, "run", &long)?.get_action().takes_values() {
        true => " VALUE",
        false => "",
    };
    let of = match command.and_then(|command| switch(&args, command, &long)) {
        Some(_) => "",
        None => " of `fedround run`",
    };
    Some(format!(
        "`{field}` is a setting of the run, not of the algorithm: --{long}{value}{of}"
    ))
}

/// A switch of a subcommand.
fn switch<'a>(args: &'a Command, command: &str, long: &str) -> Option<&'a Arg> {
    let mut all = args.find_subcommand(command)?.get_arguments();
    all.find(|arg| arg.get_long() == Some(long))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_those_of_the_command() {
        let end = |field, command| {
            let text = advice(field, Some(command))?;
            Some(text.rsplit(": ").next()?.to_owned())
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(end("eval_every", "run"), text("--eval-every VALUE"));
        assert_eq!(end("track_clients", "run"), text("--track-clients"));
        assert_eq!(
            end("rounds", "explain"),
            text("--rounds VALUE of `fedround run`")
        );
        assert_eq!(end("clients", "explain"), text("--clients VALUE"));
        // A table of a file, without a switch.
        assert_eq!(end("reading", "run"), None);
    }
}
