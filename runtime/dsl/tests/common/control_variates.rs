/// SCAFFOLD's shape: state on both sides, two broadcasts, two uploads.
pub fn control_variates(m: &mut fedround::Definer) {
    use fedround::__private::{for_each, hyper};
    use fedround::prelude::*;
    m.round(|server, w| {
        let s = server.sample(hyper("fraction", &0.5_f32));
        let c = server.state("c");
        let (y_k, change_k) = w.broadcast(&s).zip(&c.broadcast(&s)).map(|k, (w, c)| {
            let c_k = k.state("c_k");
            let lr = hyper("lr", &0.1_f32);
            let (y,) = for_each(k.batches(1, 10), (w.clone(),), |b, (y,)| {
                let g = grad(&y, |y| cross_entropy(k.forward(y, &b.x), &b.y));
                (y - &lr * (g - &c_k + &c),)
            });
            let next = &c_k - &c + (w - &y) * 0.5;
            k.set_state("c_k", &next);
            (y, next - c_k)
        });
        server.set_state("c", &(c + change_k.mean()));
        y_k.mean()
    });
}
