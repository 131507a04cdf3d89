//! Rows of the wire table.

mod parts;

use fedround::__private::{for_each, range};
use fedround::prelude::*;

use super::wire_table;
use super::*;
use crate::fed::analysis::Leaves;
use crate::testing::{FedAvg, FedProx, control_variates, dp_own_head, linked};

/// Ten parameters, two of them in each part.
fn ten(without: &Leaves) -> usize {
    let left_out = without.of.as_ref().map_or(5, |parts| parts.len());
    10 - 2 * (left_out - without.but.len())
}

#[test]
fn fed_prox_sends_parameters_and_counts() {
    let rows = wire(&linked(&FedProx {
        base: FedAvg::default(),
        mu: 0.1,
    }));
    assert_eq!(
        wire_table(&rows, Some(&ten)),
        "\
direction        what        derived from           protected by  bytes per client and round
server → client  parameters  global parameters      none          4P = 40
client → server  parameters  trained on local data  none          4P = 40
client → server  number      count of examples      none          4
total down: 4P bytes, up: 4P + 4 bytes
"
    );
    let bytes = rows.iter().filter_map(|row| row.bytes(&ten));
    assert_eq!(bytes.sum::<usize>(), 84);
}

fn of(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> Vec<Wire> {
    let define = move |m: &mut fedround::Definer| m.round(round);
    wire(&linked(&crate::testing::Closure(define)))
}

fn derived(rows: &[Wire]) -> Vec<String> {
    rows.iter().map(|row| row.derived.to_string()).collect()
}

#[test]
fn states_are_named() {
    let rows = wire(&linked(&crate::testing::Closure(control_variates)));
    let up = "trained on local data and kept client state";
    assert_eq!(
        derived(&rows),
        ["global parameters", "server state", up, up]
    );
}

#[test]
fn a_value_that_is_reduced_twice_crosses_once() {
    let rows = of(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|_, w| 2.0 * w);
        w_k.mean() + w_k.sum()
    });
    let computed = "computed from what it received";
    assert_eq!(derived(&rows), ["global parameters", computed]);
}

#[test]
fn as_received_is_what_is_given_back_as_it_came() {
    let up = |round: fn(&ServerCx, Server<Params>) -> Server<Params>| {
        let rows = of(round);
        let up = rows.iter().find(|row| row.direction == Direction::Up);
        up.unwrap().derived.to_string()
    };
    let back = up(|server, w| w.broadcast(&server.sample(0.5)).map(|_, w| w).mean());
    assert_eq!(back, "as received");
    // Put together of parts of itself.
    let parts = up(|server, w| {
        let w_k = w.broadcast(&server.sample(0.5));
        let w_k = w_k.map(|k, w| w.replace_parts(&["head"], &k.global_params()));
        w_k.mean()
    });
    assert_eq!(parts, "as received");
    for computed in [
        up(|server, w| w.broadcast(&server.sample(0.5)).map(|_, w| 3.0 * w).mean()),
        up(|server, w| {
            let w_k = w.broadcast(&server.sample(0.5)).map(|_, w| w.sign());
            w_k.mean()
        }),
    ] {
        assert_eq!(computed, "computed from what it received");
    }
}

#[test]
fn numbers_that_differ_between_clients_are_not_the_same_on_every_client() {
    let rows = of(|server, w| {
        let numbers = w.broadcast(&server.all_clients()).map(|k, w| {
            let begin = Scalar::from(0.0);
            let batches = for_each(k.batches(1, 10), begin, |_, n: Scalar| n + 1.0);
            (
                w.sq_norm(),
                k.number(),
                k.stream("a").uniform(),
                w.sq_norm().clip(1.0).noise(1.0),
                batches,
            )
        });
        let (a, b, c, d, e) = numbers;
        (a.mean() + b.mean() + c.mean() + d.mean() + e.mean()) * w
    });
    let own = "the client's number or random draws";
    let noised = "computed from what it received";
    assert_eq!(
        derived(&rows),
        [
            "global parameters",
            "the same on every client",
            own,
            own,
            noised,
            "count of examples"
        ]
    );
}

/// A gradient step, clipped, on the client's data. It leaves no running statistics in `w`.
fn update(k: &ClientCx, w: &Params) -> Params {
    let (b, w) = (k.batch(10), w.replace_parts(&["Buffer"], &w.zeros_like()));
    grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y)).clip(1.0)
}

#[test]
fn clip_and_noise_protect_and_say_where() {
    let protection = |round| of(round)[1].protection.to_string();
    let none = protection(|server, w| {
        let update_k = w
            .broadcast(&server.all_clients())
            .map(|k, w| 2.0 * update(k, &w) + w);
        update_k.mean()
    });
    assert_eq!(none, "none, clipped alone");
    let local = protection(|server, w| {
        let update_k = w.broadcast(&server.all_clients());
        let update_k = update_k.map(|k, w| update(k, &w).noise(0.5));
        w - update_k.mean()
    });
    assert_eq!(local, "clip, noise by the client");
    let central = protection(|server, w| {
        let update_k = w.broadcast(&server.all_clients()).map(|k, w| update(k, &w));
        w - update_k.mean().noise(0.5)
    });
    assert_eq!(central, "clip, noise by the server");
    let beside = protection(|server, w| {
        let update_k = w.broadcast(&server.all_clients()).map(|k, w| update(k, &w));
        w - update_k.mean().noise(0.5) - update_k.sum()
    });
    assert_eq!(
        beside, "none, clipped alone",
        "the sum is told without noise"
    );
    let nothing = protection(|server, w| {
        let update_k = w.broadcast(&server.all_clients());
        let update_k = update_k.map(|k, w| update(k, &w).noise(0.0));
        w - update_k.mean()
    });
    assert_eq!(nothing, "none, clipped alone", "noise of 0");
    let random = protection(|server, w| {
        let update_k = w.broadcast(&server.all_clients()).map(|k, w| {
            // Where to look, not what to hide in.
            let direction = w.zeros_like().clip(1.0).noise(1.0);
            update(k, &w) + direction
        });
        w - update_k.mean()
    });
    assert_eq!(random, "none, clipped alone", "random numbers");
    let weighted = protection(|server, w| {
        let update_k = w.broadcast(&server.all_clients()).map(|k, w| update(k, &w));
        w - update_k.weighted_mean(|k| k.num_examples())
    });
    assert_eq!(weighted, "none, clipped alone", "without noise");
}

#[test]
fn a_personal_head_is_not_in_what_is_sent() {
    let rows = wire(&linked(&crate::testing::Closure(dp_own_head)));
    let text = wire_table(&rows, None);
    let up = "client → server  parameters  trained on local data and kept client state  \
        clip, noise by the server  4P\n";
    assert!(text.contains(up), "{text}");
}

#[test]
fn released_features_say_why() {
    let rows = of(|server, w| {
        let s_t = server.all_clients();
        let z_k = w.broadcast(&s_t).map(|k, w| {
            let b = k.batch(10);
            k.forward(&w, &b.x).release("a mean over clients")
        });
        let loss_k = z_k.mean().broadcast(&s_t);
        let loss_k = loss_k.map(|k, z| cross_entropy(z.tensor(), &k.batch(10).y));
        loss_k.mean() * w
    });
    assert_eq!(
        wire_table(&rows, Some(&ten)),
        "\
direction        what        derived from              protected by                   bytes per client and round
server → client  parameters  global parameters         none                           4P = 40
client → server  features    computed from local data  released: a mean over clients  4F
server → client  features    aggregate of this round   none                           4F
client → server  number      computed from local data  none                           4
total down: 4P + 4F bytes, up: 4F + 4 bytes
exchanges: 2 a round, one after the other
"
    );
}

#[test]
fn exchanges_are_counted() {
    let rows = of(|server, w| {
        let s_t = server.all_clients();
        let g = w.broadcast(&s_t).map(|k, w| update(k, &w)).mean();
        let w_k = w.broadcast(&s_t).zip(&g.broadcast(&s_t));
        w_k.map(|k, (w, g)| update(k, &w) - g).mean()
    });
    let exchanges: Vec<usize> = rows.iter().map(|row| row.exchange).collect();
    assert_eq!(exchanges, [1, 1, 2, 2]);
    let text = wire_table(&rows, None);
    assert!(text.contains("aggregate of this round"), "{text}");
    assert!(
        text.ends_with("exchanges: 2 a round, one after the other\n"),
        "{text}"
    );
}

#[test]
fn what_a_loop_of_the_server_sends_is_sent_in_each_turn() {
    let rows = of(|server, w| {
        let (s_t, then) = (server.all_clients(), server.sample(0.5));
        let w = for_each(range(3), w, |_, w: Server<Params>| {
            let g_k = w.broadcast(&s_t).map(|k, w| update(k, &w));
            w - g_k.mean()
        });
        let loss_k = w
            .broadcast(&then)
            .map(|k, w| k.num_examples() * w.sq_norm());
        loss_k.mean() * w
    });
    let times: Vec<u64> = rows.iter().map(|row| row.times).collect();
    assert_eq!(times, [3, 3, 1, 1]);
    let exchanges: Vec<usize> = rows.iter().map(|row| row.exchange).collect();
    assert_eq!(exchanges, [3, 3, 4, 4]);
    assert!(rows[0].cohort == rows[1].cohort && rows[2].cohort == rows[3].cohort);
    assert!(rows[0].cohort != rows[2].cohort && rows[2].cohort.is_some());
    assert_eq!(rows[0].bytes(&ten), Some(120));
    let text = wire_table(&rows, None);
    assert!(
        text.contains("total down: 16P bytes, up: 12P + 4 bytes"),
        "{text}"
    );
    assert!(text.contains("exchanges: 4 a round"), "{text}");
}

/// There are so many turns that they are not followed one by one.
#[test]
fn a_long_loop_is_counted_too() {
    let rows = of(|server, w| {
        let s_t = server.all_clients();
        for_each(range(1000), w, |_, w: Server<Params>| {
            let g_k = w.broadcast(&s_t).map(|k, w| update(k, &w));
            w - g_k.mean()
        })
    });
    assert_eq!(rows[1].exchange, 1000);
}

/// A client's state depends on what it received: the next turn of the loop comes after it.
#[test]
fn what_clients_keep_comes_after_what_they_received() {
    let rows = of(|server, w| {
        let sent = w.broadcast(&server.all_clients());
        sent.map(|k, w| k.set_state("v", &w));
        for_each(range(100), w, |_, _: Server<Params>| {
            let v = sent.map(|k, _| update(k, &k.state("v"))).mean();
            v.broadcast(&server.current_cohort())
                .map(|k, v| k.set_state("v", &v));
            v
        })
    });
    let text = wire_table(&rows, None);
    assert!(text.contains("exchanges: 101 a round"), "{text}");
}
