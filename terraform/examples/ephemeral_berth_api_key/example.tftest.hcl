run "applied" {
  assert {
    condition     = berth_schedule.nightly.version == 1
    error_message = "The schedule of the new tenant is not there."
  }
}
