// A feedforward controller in the shape of ros2_control's ChainableController / ControllerInterface. Written by gough.
//
// With ROS 2, replace the include of the stubs by <controller_interface/controller_interface.hpp> and export the class
// by pluginlib. The stubs only let this file compile without ROS.
#include "ros2_control_stubs.hpp"

#include "@name@.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace @name@_controller
{

// Reads position, velocity and reference acceleration of each actuator, writes its effort.
class FeedforwardController : public controller_interface::ControllerInterface
{
public:
  controller_interface::InterfaceConfiguration command_interface_configuration() const override
  {
    return {controller_interface::interface_configuration_type::INDIVIDUAL, names({"effort"})};
  }

  controller_interface::InterfaceConfiguration state_interface_configuration() const override
  {
    return {controller_interface::interface_configuration_type::INDIVIDUAL,
            names({"position", "velocity", "acceleration"})};
  }

  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    gx_start(&state_);
    return controller_interface::CallbackReturn::SUCCESS;
  }

  controller_interface::return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    std::array<gx_real, GX_ACTUATORS> q{}, dq{}, ddq{}, tau{};
    for (std::size_t i = 0; i < GX_ACTUATORS; ++i) {
      q[i] = static_cast<gx_real>(state_interfaces_[3 * i].get_value());
      dq[i] = static_cast<gx_real>(state_interfaces_[3 * i + 1].get_value());
      ddq[i] = static_cast<gx_real>(state_interfaces_[3 * i + 2].get_value());
    }
    last_status = gx_torque(&model, q.data(), dq.data(), ddq.data(), GX_WITH_ALL, &state_, tau.data());
    const bool is_valid = last_status < GX_INVALID;
    for (std::size_t i = 0; i < GX_ACTUATORS; ++i)
      command_interfaces_[i].set_value(is_valid ? static_cast<double>(tau[i]) : 0.0);  // no feedforward on failure
    return is_valid ? controller_interface::return_type::OK : controller_interface::return_type::ERROR;
  }

  gx_model model = gx_identified;  // parameters may be replaced at run time
  int last_status = GX_OK;

private:
  static std::vector<std::string> names(const std::vector<std::string> & kinds)
  {
    std::vector<std::string> all;
    for (const char * joint : {@joints@})
      for (const auto & kind : kinds)
        all.push_back(std::string(joint) + "/" + kind);
    return all;
  }

  gx_state state_{};
};

}  // namespace @name@_controller

// Compiled alone, this file is a program that runs one cycle at home.
int main()
{
  @name@_controller::FeedforwardController controller;
  controller.resize(controller.state_interface_configuration().names.size(),
                    controller.command_interface_configuration().names.size());
  controller.on_activate({});
  gx_state home;
  gx_start(&home);
  static const int places[GX_ACTUATORS] = {@actuated_places@};
  for (std::size_t i = 0; i < GX_ACTUATORS; ++i)
    controller.set_state(3 * i, static_cast<double>(home.s[places[i]]));
  const bool ok = controller.update({}, {}) == controller_interface::return_type::OK;
  return ok && std::isfinite(controller.command(0)) ? 0 : 1;
}
