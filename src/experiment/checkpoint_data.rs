//! Which examples the run of a checkpoint had. The simulation in it knows neither the test examples nor what image files
//! hold.

use fedround_data::{DataDigest, Dataset};
use fedround_simulation::CheckpointError;
use fedround_store::Archive;

const PART: &str = "run/data";

/// Adds the digests of a run's data to a checkpoint.
pub(super) fn save(data: &Dataset, archive: &mut Archive) -> Result<(), CheckpointError> {
    Ok(archive.insert(PART, &DataDigest::of(data))?)
}

/// Fails if a checkpoint is of a run on other data. Checkpoints of earlier versions do not say it.
pub(super) fn check(data: &Dataset, archive: &Archive) -> Result<(), CheckpointError> {
    let Some(found) = archive.find::<DataDigest>(PART)? else {
        return Ok(());
    };
    let own = DataDigest::of(data);
    let (what, expected, found) = if own.train != found.train {
        ("data", own.train, found.train)
    } else if own.test != found.test {
        ("set of test examples", own.test, found.test)
    } else {
        return Ok(());
    };
    Err(CheckpointError::Other {
        what: what.to_owned(),
        expected,
        found,
    })
}

#[cfg(test)]
mod tests {
    use fedround::algorithms::FedAvg;
    use fedround::data::{Partition, synth::SynthDigits};
    use fedround::experiment::{Experiment, Run};

    fn run(test: usize) -> Run {
        let data = SynthDigits {
            train: 100,
            test,
            ..SynthDigits::default()
        };
        let experiment = Experiment::new(FedAvg::default()).model("logistic");
        let experiment = experiment.data(data.generate()).clients(4).threads(1);
        experiment.partition(Partition::Iid).prepare(2).unwrap()
    }

    #[test]
    fn a_run_with_other_test_examples_cannot_be_restored() {
        let mut whole = run(20);
        whole.step(&mut ()).unwrap();
        let saved = whole.save().unwrap();
        run(20).restore(&saved).unwrap();
        let mut other = run(21);
        let error = other.restore(&saved).unwrap_err().to_string();
        assert!(error.contains("another set of test examples"), "{error}");
        assert_eq!(other.simulation().round(), 0);
    }
}
