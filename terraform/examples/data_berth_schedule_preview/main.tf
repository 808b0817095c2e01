data "berth_schedule_preview" "nightly" {
  timing = { specs = [{ daily = { at = ["02:30"] } }], zone = "America/New_York" }
  from   = "2027-03-13T12:00:00Z"
  times  = 1
}

# The clocks change in that night.
check "not_in_the_gap" {
  assert {
    condition     = data.berth_schedule_preview.nightly.due[0].local == "2027-03-14T03:00:00-04:00"
    error_message = "It is due at ${data.berth_schedule_preview.nightly.due[0].local}."
  }
}
