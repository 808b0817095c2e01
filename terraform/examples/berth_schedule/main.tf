resource "berth_schedule" "example" {
  name = "nightly"
  timing = {
    specs   = [{ cron = "30 2 * * mon-fri" }, { monthly = { on = ["1", "last"], at = ["09:00"] } }]
    zone    = "Europe/Berlin"
    exclude = [{ date = "2027-12-24" }, { from = "2027-12-27", to = "2027-12-31" }]
    jitter  = "90s"
  }
  task = {
    name          = "report"
    run           = { command = { argv = ["sh", "-c", "echo hi"], env = { LANG = "C" } } }
    execution_cap = "120s"
    retry         = { initial = "5s" }
    labels        = { team = "media" }
  }
  catch_up = { count = 3, max_age = "24h" }
}
