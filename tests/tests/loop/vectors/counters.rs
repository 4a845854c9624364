use insomnia_tasks::{
    Item, ToolCall,
    reminder::{ReminderState, Situation},
    task::{
        TaskStore,
        tools::{TaskToolbox, changes_tasks},
    },
};
use insomnia_tasks_tests::{Case, Step};

#[test]
fn every_case_on_the_counters_alone() {
    for case in Case::all() {
        let (tasks, mut state, mut reminders) = (TaskStore::new(), ReminderState::default(), 0);
        let mut found = Vec::new();
        for step in case.steps() {
            let situation = Situation { active: tasks.has_active(), offered: true, paused: false };
            if state.due(case.cadence(), situation).is_ok() {
                state.reminded();
                reminders += 1;
            }
            found.push(reminders);
            match step {
                Step::Calls(calls) => {
                    state.answered(calls.iter().any(|(name, _)| changes_tasks(name)));
                    for (name, arguments) in calls {
                        let call =
                            ToolCall { id: String::new(), name: name.to_owned(), arguments: arguments.to_string() };
                        // an error is the model's affair
                        let _ = TaskToolbox::decode_call(&call).unwrap().apply(&tasks);
                    }
                }
                Step::Text => state.observe(&Item::assistant_message("So far, so good.")),
                Step::Refusal => {}
            }
        }
        assert_eq!(found, case.reminders_in_request, "{}", case.name);
    }
}
