run "applied" {
  assert {
    condition     = output.run_ms == 0
    error_message = "Something was used in a month to come."
  }
}
