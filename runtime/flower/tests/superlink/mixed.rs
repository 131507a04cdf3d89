//! Federations of which one side is Flower's own.

use std::process::Child;
use std::time::Duration;

use fedround_flower::{
    Array, Control, Coordinator, Dtype, Fab, MessageKind, NodeId, PartyError, RunOutcome,
};

use crate::parties::{PartyThread, collect, model, numbers, plus, settings, train};
use crate::server::{LONG, SuperLink, flower, until};

fn app() -> Fab {
    Fab::of_files(&[
        ("pyproject.toml", include_bytes!("app/pyproject.toml")),
        ("mixed.py", include_bytes!("app/mixed.py")),
    ])
    .unwrap()
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A SuperNode of Flower, and a run whose bundle has its client.
pub struct SuperNode {
    _process: Process,
    pub node: NodeId,
    pub coordinator: Coordinator,
}

impl SuperNode {
    pub fn start(server: &SuperLink) -> Self {
        let connection = server.connect();
        let before = Control::new(&connection).nodes().unwrap();
        let mut command = server.command("flower-supernode");
        command.args(["--insecure", "--superlink", &server.address(), "--port"]);
        let port = crate::server::free_port();
        let process = Process(command.arg(port.to_string()).spawn().unwrap());

        let run = Control::new(&connection).start_run(&app(), "").unwrap();
        let coordinator = Coordinator::acquire(&connection, run, None, LONG).unwrap();
        // Other tests' parties come and go; this one has the key that our settings did not make.
        let mut found = None;
        until("the SuperNode is online", || {
            let log = server.log_of("flower-supernode");
            let nodes = coordinator.nodes().unwrap();
            let new = nodes.into_iter().filter(|node| !before.contains(node));
            found = new
                .map(|node| node.id)
                .find(|id| log.contains(&id.to_string()));
            found.is_some()
        });
        Self {
            _process: process,
            node: found.unwrap(),
            coordinator,
        }
    }
}

pub fn a_supernode_of_flower_answers_our_coordinator(server: &SuperLink) {
    let mut supernode = SuperNode::start(server);
    let (node, coordinator) = (supernode.node, &mut supernode.coordinator);
    let weights: Vec<u8> = (0..6_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let content = model([("w", Array::new(Dtype::F32, vec![2, 3], weights).unwrap())]);
    let tickets = coordinator.send(&[node], &train(), &content, LONG).unwrap();
    let replies = collect(coordinator, &tickets);
    let reply = replies[0].as_ref().unwrap();
    let array = &reply.arrays("arrays").unwrap()["w"];
    assert_eq!(array.shape(), [2, 3]);
    assert_eq!(numbers(array), [5., 6., 7., 8., 9., 10.]);
    let metrics = reply.metrics("metrics").unwrap();
    assert_eq!(
        metrics["num-examples"],
        fedround_flower::MetricValue::Int(100)
    );

    // A reply that cannot be read is the failure of that party alone.
    let query = MessageKind::new("query").unwrap();
    let tickets = coordinator.send(&[node], &query, &content, LONG).unwrap();
    let replies = collect(coordinator, &tickets);
    let Err(PartyError::Failed(reason)) = &replies[0] else {
        panic!("{replies:?}");
    };
    assert!(reason.contains("<f2"), "{reason}");
    let finished = supernode.coordinator.finish(RunOutcome::Completed);
    finished.unwrap();
}

#[test]
fn our_parties_serve_fedavg_of_flower() {
    let Some(programs) = flower() else { return };
    // With subprocess isolation, the SuperLink runs the ServerApp of the bundle.
    let dir = tempfile::tempdir().unwrap();
    let server = SuperLink::start(&programs, dir, &["--insecure"], false);
    let connection = server.connect();
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let parties = [
        PartyThread::start(&connection, settings(dirs[0].path()), plus(1.)),
        PartyThread::start(&connection, settings(dirs[1].path()), plus(3.)),
    ];
    let control = Control::new(&connection);
    let run = control.start_run(&app(), "").unwrap();
    until("the run is finished", || {
        std::thread::sleep(Duration::from_millis(500));
        control.run(run).unwrap().unwrap().status == "finished"
    });
    let info = control.run(run).unwrap().unwrap();
    assert_eq!(
        info.sub_status,
        "completed",
        "{info:?}\n{}",
        server.log_of("flower-superlink")
    );
    assert_eq!(parties.map(PartyThread::leave), [0, 0]);
}
