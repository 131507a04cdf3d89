//! All errors at once.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        println!("training");
        let v = k.global_params()?;
        self.lr = 0.5;
        undeclared = &mut w;
        unsafe { *v }
    }
}

fn main() {}
