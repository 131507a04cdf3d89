//! Adversaries that look for protected attributes, in the runs of a comparison.

use crate::support::Place;

/// A file like that of UCI Adult, with people whose occupation tells the race, and whose employer tells the sex.
fn people(place: &Place) {
    let line = |i: usize| {
        let of =
            |bit: usize, [no, yes]: [&'static str; 2]| if (i >> bit) & 1 == 1 { yes } else { no };
        let (sex, employer) = (of(0, ["Female", "Male"]), of(0, ["State-gov", "Private"]));
        let (race, work) = (of(1, ["Black", "White"]), of(1, ["Tech-support", "Sales"]));
        let (income, years) = (of(2, ["<=50K", ">50K"]), of(2, ["7", "13"]));
        format!(
            "{}, {employer}, 1, HS-grad, {years}, Divorced, {work}, Husband, {race}, {sex}, 0, 0, {}, Cuba, {income}\n",
            20 + i % 40,
            30 + i % 11
        )
    };
    let text: String = (0..240).map(line).collect();
    place.write("data/adult/adult.data", text.as_bytes());
}

#[test]
fn the_runs_of_a_comparison_have_adversaries_if_asked() {
    let place = Place::new();
    people(&place);
    let line = "compare fair(fedavg) --data adult --data-dir data --clients 2 --partition iid --model 2nn \
                --rounds 2 --seeds 1 --set fraction=1 --quiet";
    place.success(&format!("{line} --out without"));
    place.success(&format!("{line} --adversary --out with"));
    let run = |out: &str, file: &str| format!("{out}/fair-fedavg-seed1/{file}");
    let asked = |out: &str| {
        place
            .text(&run(out, "config.toml"))
            .contains("adversary = true")
    };
    assert!(asked("with") && !asked("without"));
    let summary = |out: &str| place.json(&run(out, "summary.json"));
    assert!(summary("without")["adversary"].is_null());
    let (with, without) = (summary("with"), summary("without"));
    let found = with["adversary"].as_array().unwrap();
    let attributes: Vec<_> = found.iter().map(|of| &of["attribute"]).collect();
    assert_eq!(attributes, ["white", "male"]);
    for of in found {
        assert!(of["auc"].as_f64().unwrap() > 0.9, "{of}");
    }
    // They are asked afterwards, and change nothing of the training.
    assert_eq!(with["train_loss"], without["train_loss"]);

    // A run without them is another run.
    let text = place.failure(&format!("{line} --adversary --out without"), 1);
    assert!(text.contains("adversary = none, expected true"), "{text}");
}
