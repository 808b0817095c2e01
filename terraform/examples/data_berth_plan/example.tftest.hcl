run "applied" {
  assert {
    condition     = output.running_tasks > 0
    error_message = "The plan allows nothing."
  }
}
