run "applied" {
  assert {
    condition     = berth_workflow.example.version == 1
    error_message = "It is not new."
  }

  assert {
    condition     = berth_schedule.of_workflow.workflow.name == "load"
    error_message = "The schedule starts another workflow."
  }
}
