//! Settings that contradict each other or the data, and what is said of them.

use crate::bad_input::fails;
use crate::support::{Place, SMALL};

#[test]
fn a_hyper_parameter_of_a_sweep_has_one_list_of_values() {
    let place = Place::new();
    let line = |rest: &str| format!("sweep fedprox {SMALL} {rest}");
    fails(
        &place,
        &line("--grid mu=0.1 --grid mu=1"),
        &["--grid mu=.. is there twice", "one list"],
    );
    fails(
        &place,
        &line("--grid lr=0.1,1 --set lr=0.5"),
        &["--set lr=.. and --grid lr=..", "leave --set lr=.. out"],
    );
    fails(
        &place,
        &line("--grid fedavg.lr=0.1,1 --set lr=0.5"),
        &["--set lr=.. and --grid fedavg.lr=.."],
    );
    fails(
        &place,
        &line("--grid zzz=1"),
        &["--grid zzz=..: no algorithm"],
    );
    fails(
        &place,
        &line("--grid mu=0.1,0.1"),
        &["the value 0.1 is there twice", "leave one of them out"],
    );
    let compare = format!("compare fedavg fedprox {SMALL} --validation 0.2");
    fails(
        &place,
        &format!("{compare} --select lr=0.1,1 --set fedprox.lr=1"),
        &["--set fedprox.lr=.. and --select lr=.."],
    );
}

#[test]
fn a_share_for_tests_needs_data_without_a_test_part() {
    let place = Place::new();
    let table = "a,class\n1,x\n2,y\n3,x\n4,y\n";
    place.write("train.csv", table.as_bytes());
    place.write("test.csv", table.as_bytes());
    fails(
        &place,
        "data info csv:train.csv,test.csv --target-column class --test-share 0.3",
        &[
            "`test_share` does not fit `csv:train.csv,test.csv`",
            "the last of these files",
            "leave --test-share out",
        ],
    );
    place.success("data info csv:train.csv --target-column class --test-share 0.5");
}

#[test]
fn clients_have_one_speed() {
    let place = Place::new();
    place.write(
        "phones.csv",
        "speed\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n".as_bytes(),
    );
    let line = format!("run fedavg {SMALL} --profiles phones.csv");
    fails(
        &place,
        &format!("{line} --speed constant:2"),
        &[
            "phones.csv: the file has a column `speed`",
            "--speed is constant:2",
        ],
    );
    // The file says nothing of bandwidths.
    place.success(&format!("{line} --bandwidth constant:2 --quiet --out out"));
}

#[test]
fn only_a_plug_in_is_suggested_around_its_base() {
    let place = Place::new();
    for (spec, said) in [
        ("fedavg(fedavg)", "; write `fedavg`"),
        ("solo(fedavg)", "; write `solo`"),
        ("fedavg(fedprox)", "did you mean `fedprox(fedavg)`?"),
    ] {
        fails(&place, &format!("run {spec}"), &[said]);
    }
}

#[test]
fn numbers_of_the_wrong_kind_are_shown_with_the_range() {
    let place = Place::new();
    for found in ["1.0", "1.5", "-3"] {
        let expected = format!("a whole number of at least 1, found `{found}`");
        fails(
            &place,
            &format!("run fedavg --set epochs={found}"),
            &[&expected],
        );
    }
    fails(
        &place,
        "run fedprox --set mu=1e39",
        &[
            "`mu`: expected a size of at most 3.4028235e38",
            "found 1e39",
        ],
    );
    let file = |value: &str| format!("spec = \"fedavg\"\n[hyper]\nbatch = {value}\n");
    for (value, found) in [("1e1", "found `10.0`"), ("-3", "found `-3`")] {
        place.write("file.toml", file(value).as_bytes());
        fails(&place, "run --config file.toml", &[found]);
    }
}

#[test]
fn clients_and_their_examples_are_there_to_be_explained() {
    let place = Place::new();
    for (flag, name) in [("--clients", "clients"), ("--examples", "examples")] {
        let text = place.failure(&format!("explain fedavg {flag} 0"), 1);
        let said = format!("{name}: expected at least 1, found 0");
        assert!(text.contains(&said), "{text}");
    }
}

#[test]
fn too_few_examples_for_validation_are_said() {
    let place = Place::new();
    let line = format!("run fedavg {SMALL} --partition shared:1 --keep best");
    fails(
        &place,
        &format!("{line} --validation 0.5"),
        &["a share of 0.5", "fewer --clients or another --partition"],
    );
    fails(&place, &line, &["--validation 0.1 holds a tenth"]);
}

#[test]
fn noise_that_is_none_names_its_hyper_parameters() {
    let place = Place::new();
    fails(
        &place,
        &format!("run adaptive-clip {SMALL} --set noise=1"),
        &[
            "expected a finite one above 0",
            "`adaptive-clip.noise` and `adaptive-clip.count_noise`",
            "fedround list SPEC",
        ],
    );
}
