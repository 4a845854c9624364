//! Whatever happens in whatever order: the live session, the fold of its file, and a plain model of the rules agree.

mod act;
mod plain;
mod run;

use proptest::prelude::*;

use act::{Act, acts};

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn live_session_file_and_model_agree(acts in acts(), stream: bool, system: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run::run(&acts, stream, if system { "system" } else { "auto" }));
    }
}

#[tokio::test]
async fn a_change_whose_arguments_had_to_be_mended_is_kept() {
    for stream in [true, false] {
        for form in 0..act::FORMS {
            let acts = [Act::answer(vec![act::Call::Create(form)]), Act::Reopen];
            run::run(&acts, stream, "auto").await;
        }
    }
}
