run "applied" {
  assert {
    condition     = berth_operator_key.example.scopes == toset(["read"])
    error_message = "The scopes are others."
  }

  assert {
    condition     = terraform_data.store.id != "" && fileexists("dashboards.key")
    error_message = "The key was not handed over."
  }
}
