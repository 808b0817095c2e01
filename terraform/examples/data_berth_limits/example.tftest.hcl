run "applied" {
  assert {
    condition     = length(data.berth_limits.mine.quotas) > 0
    error_message = "There are no quotas."
  }
}
