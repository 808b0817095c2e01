run "applied" {
  assert {
    condition     = berth_schedule.example.misfire == "catch_up" && berth_schedule.example.overlap == "skip"
    error_message = "Misfire or overlap is another."
  }

  assert {
    condition     = berth_schedule.example.task.execution_cap == "120s"
    error_message = "A duration is not as it was written."
  }
}
