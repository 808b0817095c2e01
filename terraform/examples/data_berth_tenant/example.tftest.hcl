run "applied" {
  assert {
    condition     = startswith(output.id, "tenant_")
    error_message = "The tenant has no id."
  }
}
