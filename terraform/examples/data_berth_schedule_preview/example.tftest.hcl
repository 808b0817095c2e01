run "applied" {
  assert {
    condition     = length(data.berth_schedule_preview.nightly.due) == 1
    error_message = "It is not one due time."
  }
}
