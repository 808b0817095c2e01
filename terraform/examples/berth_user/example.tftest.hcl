run "applied" {
  assert {
    condition     = berth_user.example.role == "developer"
    error_message = "The role is another."
  }

  assert {
    condition     = terraform_data.mail.id != "" && fileexists("ann.token")
    error_message = "The invitation was not handed over."
  }
}
