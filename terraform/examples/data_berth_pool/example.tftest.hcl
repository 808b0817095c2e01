run "applied" {
  assert {
    condition     = output.granted_to != null
    error_message = "It says not who may use the pool."
  }
}
