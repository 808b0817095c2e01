run "applied" {
  assert {
    condition     = length(data.berth_executors.default.executors) > 0
    error_message = "The pool has no executor."
  }
}
