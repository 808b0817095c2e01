run "applied" {
  assert {
    condition     = berth_plan.example.running_tasks == 50 && berth_plan.example.weight == 2.5
    error_message = "The plan is another."
  }

  assert {
    condition     = berth_plan.example.version == 1
    error_message = "It is not new."
  }
}
