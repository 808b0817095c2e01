run "applied" {
  assert {
    condition     = terraform_data.store.id != "" && fileexists("metrics.key")
    error_message = "The key was not handed over."
  }
}
