//! Parts of parameters that the other side has, which do not cross.

use super::*;

const HEAD: &str = "(P − P[head])";

/// What crosses of each row of a round.
fn sent(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> Vec<String> {
    let rows = of(round);
    rows.iter().map(|row| row.without.outside()).collect()
}

/// A client's head of its own, kept apart.
fn own_head(server: &ServerCx, w: Server<Params>) -> Server<Params> {
    let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
        let mine = 2.0 * k.personal(&["head"], &w);
        k.set_personal(&["head"], &mine);
        mine.replace_parts(&["head"], &w)
    });
    w_k.mean()
}

fn head_given_back(server: &ServerCx, w: Server<Params>) -> Server<Params> {
    let w_k = w.broadcast(&server.all_clients());
    w_k.map(|_, w| (2.0 * &w).replace_parts(&["head"], &w))
        .mean()
}

/// Two readers of a broadcast, one of which needs all of it; the other gives all of it back.
fn two_readers(server: &ServerCx, w: Server<Params>) -> Server<Params> {
    let w_k = w.broadcast(&server.all_clients());
    let own = w_k.map(|k, w| {
        let mine = k.personal(&["head"], &w);
        k.set_personal(&["head"], &mine);
        mine.replace_parts(&["head"], &w)
    });
    own.mean() + w_k.map(|_, w| 2.0 * w).mean()
}

#[test]
fn a_part_that_the_other_side_has_does_not_cross() {
    assert_eq!(sent(own_head), [HEAD, HEAD]);
    // Read before it is given back, it goes down, not up.
    assert_eq!(sent(head_given_back), ["P", HEAD]);
    // Zeroed before anything reads it, and given back as it was.
    let unread = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let body = w.replace_parts(&["head"], &w.zeros_like());
            (2.0 * body).replace_parts(&["head"], &k.global_params())
        });
        w_k.mean()
    });
    assert_eq!(unread, [HEAD, HEAD]);
    assert_eq!(sent(two_readers), ["P", "0", "P"]);
    // The weights read nothing of what they weigh.
    let weighted = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients());
        let w_k = w_k.map(|_, w| (2.0 * &w).replace_parts(&["head"], &w));
        w_k.weighted_mean(|k| k.num_examples())
    });
    assert_eq!(weighted[..2], ["P", HEAD]);
}

#[test]
fn a_part_of_another_tree_crosses() {
    let changed = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|_, w| (2.0 * &w).replace_parts(&["head"], &(3.0 * &w)))
            .mean()
    });
    assert_eq!(changed, ["P", "P"]);
    // A head that is uploaded, and so averaged, is what a client that comes late begins with.
    let late = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let mine = k.personal(&["head"], &w);
            k.set_personal(&["head"], &mine);
            (2.0 * &w).replace_parts(&["head"], &(3.0 * &w))
        });
        w_k.mean()
    });
    assert_eq!(late, ["P", "P"]);
    // What a client keeps of the whole tree is uploaded.
    let kept = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let own = k.state_or("own", &w);
            k.set_state("own", &(2.0 * &own));
            own
        });
        w_k.mean()
    });
    assert_eq!(kept, ["P", "P"]);
}

/// The state of a head is whole, and nobody reads the rest of it.
#[test]
fn what_is_stored_and_never_read_does_not_cross() {
    let round = |server: &ServerCx, w: Server<Params>| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let own = k.personal(&["body"], &k.personal(&["head"], &w));
            k.set_personal(&["body"], &(2.0 * &own));
            let mine = (2.0 * own).replace_parts(&["body"], &w);
            k.set_personal(&["head"], &mine);
            mine.replace_parts(&["head"], &w)
        });
        w_k.mean()
    };
    assert_eq!(sent(round)[0], "(P − P[body, head])");
    // Now somebody does, and the body crosses.
    let read = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let mine = (2.0 * k.personal(&["head"], &w)).replace_parts(&["body"], &w);
            k.set_personal(&["head"], &mine);
            k.set_state("size", &k.state("head").sq_norm());
            mine.replace_parts(&["head"], &w)
        });
        w_k.mean()
    });
    assert_eq!(read[0], "(P − P[head but body])");
}

#[test]
fn what_cancels_in_a_difference_does_not_cross() {
    let moved = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let own = 2.0 * k.personal(&["head"], &w);
            k.set_personal(&["head"], &own);
            let own = own.replace_parts(&["head"], &w);
            k.set_state("moved", &(&own - &w).sq_norm());
            own
        });
        w_k.weighted_mean(|k| k.scalar_state("moved"))
    });
    assert_eq!(moved[..2], ["(P − P[head but Buffer])", HEAD]);
}

#[test]
fn a_part_that_the_server_changes_crosses() {
    // The head that nobody uploads included.
    let scaled = sent(|server, w| 2.0 * own_head(server, w));
    assert_eq!(scaled, ["P", HEAD]);
    // All but the head is changed.
    let body = sent(|server, w| {
        let next = own_head(server, w.clone());
        w.replace_parts(&["body"], &(2.0 * next))
    });
    assert_eq!(body, ["(P − P[head but body])", HEAD]);
    // A step of the server's, along a direction that is zero in the head.
    let step = sent(|server, w| {
        let g = &w - own_head(server, w.clone());
        let v = 0.9 * server.state("v") + g;
        server.set_state("v", &v);
        w - 0.1 * v
    });
    assert_eq!(step, [HEAD, HEAD]);
}

/// What an earlier phase may have left in a state is not known to be zero.
#[test]
fn a_state_of_another_program_may_change_any_part() {
    let round = |server: &ServerCx, w: Server<Params>| {
        let g = &w - own_head(server, w.clone());
        let v = 0.9 * server.state("v") + g;
        server.set_state("v", &v);
        w - 0.1 * v
    };
    let define = move |m: &mut fedround::Definer| m.round(round);
    let mut module = linked(&crate::testing::Closure(define));
    assert_eq!(wire(&module)[0].without.outside(), HEAD);
    module.resumes = true;
    assert_eq!(wire(&module)[0].without.outside(), "P");
}

#[test]
fn what_later_code_of_a_client_reads_crosses() {
    let later = sent(|server, w| {
        let s_t = server.all_clients();
        let w_k = w.broadcast(&s_t).map(|k, w| {
            let own = k.personal(&["head"], &w);
            k.set_personal(&["head"], &own);
            own
        });
        let z_k = w_k.map(|k, w| {
            let b = k.batch(10);
            k.forward(&w, &b.x).release("a mean over clients")
        });
        let loss_k = z_k.mean().broadcast(&s_t);
        let loss_k = loss_k.map(|k, z| cross_entropy(z.tensor(), &k.batch(10).y));
        server.set_state("loss", &loss_k.mean());
        w
    });
    assert_eq!(later[0], HEAD);
}

#[test]
fn several_parts_that_the_other_side_has_do_not_cross() {
    // The head alone is uploaded, beside a body of the client's own.
    let shared = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let own = k.personal(&["Model"], &w).replace_parts(&["head"], &w);
            let own = 2.0 * own;
            k.set_personal(&["Model"], &own);
            w.replace_parts(&["head"], &own)
        });
        w_k.mean()
    });
    assert_eq!(shared, ["(P − P[Model but head])", "P[head]"]);
    // One layer's personal part, and then another's.
    let both = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let own = k.personal(&["body"], &k.personal(&["head"], &w));
            let own = 2.0 * own;
            k.set_personal(&["head"], &own);
            k.set_personal(&["body"], &own);
            let sent = own.replace_parts(&["body"], &k.global_params());
            sent.replace_parts(&["head"], &k.global_params())
        });
        w_k.mean()
    });
    assert_eq!(both, ["(P − P[body, head])"; 2]);
}

#[test]
fn parts_that_do_not_cross_are_not_in_the_bytes() {
    let text = wire_table(&of(head_given_back), Some(&ten));
    assert!(text.contains("4(P − P[head]) = 32"), "{text}");
    assert!(text.contains("up: 4(P − P[head]) bytes"), "{text}");
    let rows = of(two_readers);
    let text = wire_table(&rows, Some(&ten));
    assert!(
        text.contains("total down: 4P bytes, up: 4P bytes"),
        "{text}"
    );
    assert_eq!(rows[1].formula(), "0");
}

/// A gradient of what a client received advances the running statistics in it.
#[test]
fn statistics_that_training_advanced_are_sent() {
    fn step(k: &ClientCx, w: &Params, of: &Params) -> Params {
        let b = k.batch(10);
        let g = grad(of, |w| cross_entropy(k.forward(w, &b.x), &b.y));
        (w - 0.1 * g).replace_parts(&["BatchNorm"], w)
    }
    let of_a_copy = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let copy = w.replace_parts(&["Buffer"], &w.zeros_like());
            step(k, &w, &copy)
        });
        w_k.mean()
    });
    let of_itself = sent(|server, w| {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|k, w| step(k, &w, &w)).mean()
    });
    assert_eq!(of_a_copy[1], "(P − P[BatchNorm])");
    assert_ne!(of_itself[1], of_a_copy[1]);
}

/// What the server adds an encoded change to is what it sent, of other statistics than the client's then.
#[test]
fn a_change_crosses_encoded_unless_statistics_were_advanced() {
    fn changed(k: &ClientCx, w: &Params, of: &Params) -> Params {
        let b = k.batch(10);
        let g = grad(of, |w| cross_entropy(k.forward(w, &b.x), &b.y));
        w + g.encode(Codec::top_k(0.1))
    }
    let of_a_copy = of(|server, w| {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let copy = w.replace_parts(&["Buffer"], &w.zeros_like());
            changed(k, &w, &copy)
        });
        w_k.mean()
    });
    let of_itself = of(|server, w| {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|k, w| changed(k, &w, &w)).mean()
    });
    assert!(of_a_copy[1].encoded.is_some());
    assert_eq!(of_itself[1].encoded, None);
}
