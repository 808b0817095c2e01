resource "berth_plan" "team" {
  name          = "team-of-acme"
  running_tasks = 50
}

resource "berth_tenant" "acme" {
  name                = "Acme"
  plan                = berth_plan.team.name
  deletion_protection = false
}

# A key for this command of Terraform only.
ephemeral "berth_api_key" "acme" {
  tenant = berth_tenant.acme.id
  scopes = ["read", "submit"]
}

provider "berth" {
  alias   = "acme"
  api_key = ephemeral.berth_api_key.acme.key
}

resource "berth_schedule" "nightly" {
  provider = berth.acme
  name     = "nightly"
  timing   = { specs = [{ daily = { at = ["02:30"] } }], zone = "Europe/Berlin" }
  task     = { run = { command = { argv = ["make", "report"] } } }
}
