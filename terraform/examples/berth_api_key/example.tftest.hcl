run "applied" {
  assert {
    condition     = berth_api_key.example.id != "" && berth_api_key.example.name == "ci"
    error_message = "The key has no id."
  }

  assert {
    condition     = terraform_data.store.id != "" && fileexists("ci.key")
    error_message = "The key was not handed over."
  }
}
