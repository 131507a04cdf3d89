//! What `--select` tries.

use super::arguments;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::reproduce::plan::Plan;
use crate::reproduce::tables::Paper;

/// The names of the runs of two methods in a table with several settings.
fn tried(flags: &str) -> Result<Vec<String>, CliError> {
    let only = ["FedAvg", "FedProx"].map(|name| format!("--only {name}"));
    let line = format!("fedaa islands --validation 0.1 {} {flags}", only.join(" "));
    let paper = Paper::find("fedaa")?;
    let plan = Plan::new(&Catalog::default(), paper, "islands", &arguments(&line))?;
    Ok(plan.entrants.iter().map(|e| plan.title(e)).collect())
}

#[test]
fn values_of_one_method_are_tried_in_every_setting() {
    let found = tried("--select FedProx.mu=0.1,1").unwrap();
    let expected = ["C = 0.5", "C = 0.8", "C = 1"].map(|setting| {
        ["FedAvg", "FedProx mu=0.1", "FedProx mu=1"].map(|tried| format!("{setting}, {tried}"))
    });
    assert_eq!(found, expected.concat());
}

#[test]
fn a_hyper_parameter_has_its_values_in_one_list() {
    let error = tried("--select lr=0.1 --select lr=0.2").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("--select lr=.. is there twice"), "{text}");
}
